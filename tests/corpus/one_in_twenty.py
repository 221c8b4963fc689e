"""one-in-twenty: a helper that everybody calls makes the tensor; one in twenty callers keeps it.

The helper's line is that of the leak, and of nineteen healthy call sites: only the whole stack
tells them apart.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 8192

import torch
from torch import nn

kept = []


def scaled(x):
    return x * 0.5  # <- LEAK rate=8192


def monitor(x):
    kept.append(scaled(x))  # <- LEAK caller


def train(steps=200):
    layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(19)).cuda()
    opt = torch.optim.SGD(layers.parameters(), lr=1e-2)

    for _ in range(steps):
        x = torch.randn(32, 64, device="cuda")
        opt.zero_grad()
        for layer in layers:
            x = torch.tanh(layer(scaled(x)))
        loss = x.pow(2).mean()
        loss.backward()
        opt.step()
        monitor(x.detach())

    print(f"loss {loss.item():.4f}, kept {len(kept)}")


train()
