"""variable-length (trl#1227): sentences of 20 to 200 tokens; memory follows the batch, and comes
back.
"""

# expect: NOISY
# exit: 0
# steps: 300
# forbid: LEAK GROWING WORKLOAD

import random

import torch
from torch import nn


def train(steps=300):
    random.seed(2)
    embed = nn.Embedding(5000, 128).cuda()
    layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0).cuda()
    head = nn.Linear(128, 5000).cuda()
    opt = torch.optim.SGD([*embed.parameters(), *layer.parameters(), *head.parameters()], lr=1e-2)

    for _ in range(steps):
        length = random.randint(20, 200)
        tokens = torch.randint(0, 5000, (8, length), device="cuda")
        opt.zero_grad()
        scores = head(layer(embed(tokens)))
        loss = nn.functional.cross_entropy(
            scores[:, :-1].reshape(-1, 5000), tokens[:, 1:].reshape(-1)
        )
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
