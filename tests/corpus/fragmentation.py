"""fragmentation (returnn#1478): freed blocks do not serve the sizes that come later, so reserved
memory climbs.

Allocated comes back to the same floor; no line leaks.
"""

# expect: FRAGMENTATION|NOISY|SAWTOOTH|WORKLOAD|STABLE|JUMP|PLATEAU
# exit: 0
# steps: 300
# forbid: LEAK GROWING

import random

import torch
from torch import nn


def train(steps=300):
    random.seed(8)
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    held = []

    for step in range(steps):
        megabytes = 21 + step % 150
        held.append(torch.empty(megabytes << 20, dtype=torch.uint8, device="cuda"))
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
        if len(held) > 2:
            held.pop(random.randrange(2))

    print(f"loss {loss.item():.4f}")


train()
