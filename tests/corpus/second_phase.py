"""second-phase (own): two phases call the same function for their epochs, each from a line of its
own; the run ends within the first epoch of the second one.

What an epoch accumulates goes when the next one begins: the second phase's call stack hasn't lived
to see that, the first one's has.
"""

# expect: STABLE
# exit: 0
# steps: 290
# forbid: LEAK GROWING

import torch
from torch import nn


def run_epoch(net, opt, steps):
    predictions = []
    for _ in range(steps):
        x = torch.randn(16, 64, device="cuda")
        out = net(x)  # <- SAWTOOTH
        opt.zero_grad()
        (out - x).square().mean().backward()
        opt.step()
        predictions.append(out.detach())
    return torch.cat(predictions).mean().item()


def train(epochs=5, steps=50):
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    for _ in range(epochs):
        run_epoch(net, opt, steps)

    opt = torch.optim.SGD(net[2].parameters(), lr=1e-3)
    print(f"mean {run_epoch(net, opt, steps - 10):.4f}")


train()
