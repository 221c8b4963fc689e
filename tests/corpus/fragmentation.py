"""fragmentation (returnn#1478): freed blocks do not serve the sizes that come later.

Two buffers share a constant size, and the border between them moves: allocated stays flat. The one
that grows never fits into what it left behind, so reserved climbs. No line leaks.
"""

# expect: FRAGMENTATION
# exit: 0
# gate: fragmentation
# steps: 100
# forbid: LEAK GROWING

import torch
from torch import nn

MIB = 1 << 20


def split(total, border):
    return [
        torch.empty(n * MIB, dtype=torch.uint8, device="cuda") for n in (total - border, border)
    ]


def train(steps=100):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        buffers = split(400, 22 + 2 * step)
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
        del buffers

    print(f"loss {loss.item():.4f}")


train()
