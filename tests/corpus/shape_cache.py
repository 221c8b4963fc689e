"""shape-cache (gpt-oss#43): the table of cosines and sines is doubled when a longer position
comes, then serves.
"""

# expect: PLATEAU
# exit: 0
# steps: 200
# forbid: LEAK GROWING WORKLOAD

import random

import torch
from torch import nn


class Rotary:
    def __init__(self, width):
        self.rates = 10_000 ** (-torch.arange(0, width, 2, device="cuda") / width)
        self.length, self.cos, self.sin = 0, None, None

    def __call__(self, x):
        length = x.shape[1]
        if length > self.length:
            self.length = max(2 * self.length, length)
            angles = torch.outer(torch.arange(self.length, device="cuda"), self.rates)
            self.cos, self.sin = angles.cos(), angles.sin()
        a, b = x.chunk(2, dim=-1)
        cos, sin = self.cos[:length], self.sin[:length]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def train(steps=200):
    random.seed(6)
    rotary, net = Rotary(256), nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        x = torch.randn(4, random.randint(50, 100 + min(step, 60) * 30), 256, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(rotary(x)), x)
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, table for {rotary.length}")


train()
