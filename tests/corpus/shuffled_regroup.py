"""shuffled-regroup (DiffSinger#327): batches are regrouped each epoch; a late epoch brings a new
largest one.
"""

# expect: NOISY
# exit: 0
# steps: 300
# forbid: LEAK GROWING

import random

import torch
from torch import nn


def train(epochs=6, batches=50):
    random.seed(5)
    lengths = [random.choice((40, 80, 120, 160, 400)) for _ in range(batches * 8)]
    net = nn.Sequential(nn.Linear(80, 256), nn.ReLU(), nn.Linear(256, 80)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for epoch in range(epochs):
        random.shuffle(lengths)
        for i in range(batches):
            group = lengths[8 * i : 8 * i + 8]
            mel = torch.randn(
                8, max(group) + (200 if (epoch, i) == (4, 30) else 0), 80, device="cuda"
            )
            opt.zero_grad()
            loss = nn.functional.l1_loss(net(mel), mel)
            loss.backward()
            opt.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


train()
