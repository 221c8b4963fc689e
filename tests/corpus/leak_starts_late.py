"""leak-starts-late: a feature that is switched on at step 400 of 500 keeps its embeddings."""

# expect: LEAK
# exit: 1
# steps: 500
# rate: 16384

import torch
from torch import nn


def train(steps=500, warmup=400):
    encoder = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128)).cuda()
    head = nn.Linear(128, 10).cuda()
    opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()])
    memory_bank = []

    for step in range(steps):
        x = torch.randn(32, 64, device="cuda")
        y = torch.randint(0, 10, (32,), device="cuda")
        features = encoder(x)
        loss = nn.functional.cross_entropy(head(features), y)
        if step >= warmup:
            normed = torch.tanh(features.detach())  # <- LEAK rate=16384 first=401
            memory_bank.append(normed)
        opt.zero_grad()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, {len(memory_bank)} batches in the bank")


train()
