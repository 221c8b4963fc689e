"""wrapped-each-epoch (own): each epoch wraps the model's forward once more, as a prepare() that is
called in the loop does, and a list keeps each loss.

So each epoch has a call stack of its own, one call deeper: one stack after the other leaks for an
epoch, then stops.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 512
# bound: unknown

import torch
from torch import nn


def prepared(forward):
    def converted(*args):
        return forward(*args)

    return converted


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x):
        return (self.body(x) - x).square().mean()  # <- LEAK rate=512


def train(epochs=15, steps=20):
    net = Net().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    losses = []

    for _ in range(epochs):
        net.forward = prepared(net.forward)
        for _ in range(steps):
            opt.zero_grad()
            loss = net(torch.randn(16, 64, device="cuda"))
            loss.backward()
            opt.step()
            losses.append(loss.detach())

    print(f"loss {losses[-1].item():.4f}")


train()
