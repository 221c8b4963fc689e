"""wrapped-epoch-metric (own): each epoch wraps the model's forward once more, and its list of losses
is dropped when the next one begins.

So the last epoch's call stack has given nothing back yet, as those before it had not either while
they were at work.
"""

# expect: STABLE
# exit: 0
# steps: 336
# forbid: LEAK GROWING

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
        return (self.body(x) - x).square().mean()  # <- SAWTOOTH


def train(epochs=8, steps=42):
    net = Net().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for _ in range(epochs):
        net.forward = prepared(net.forward)
        losses = []
        for _ in range(steps):
            opt.zero_grad()
            loss = net(torch.randn(16, 64, device="cuda"))
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        mean = torch.stack(losses).mean().item()

    print(f"loss {mean:.4f}")


train()
