"""steep-curriculum: images grow from 32 to 160 pixels, so that a batch has 25 times as many at the end.
It is held until the next one is there, and grows by more than the rest of a step does.
"""

# expect: WORKLOAD
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import torch
from torch import nn


def batch(side):
    return torch.randn(8, 3, side, side, device="cuda")


def train(steps=200):
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
    ).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        x = batch(32 + 128 * step // steps)  # <- WORKLOAD caller
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
