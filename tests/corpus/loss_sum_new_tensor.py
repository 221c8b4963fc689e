"""loss-sum-new-tensor (pytorch#1840): `total = total + loss` makes a new tensor each step, and a
list keeps them all.

512 bytes a step, the smallest block there is.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 512

import torch
from torch import nn


def train(steps=300):
    net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    total = torch.zeros((), device="cuda")
    totals = []

    for _ in range(steps):
        x = torch.randn(64, 128, device="cuda")
        y = torch.randint(0, 10, (64,), device="cuda")
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        total = total + loss  # <- LEAK rate=512
        totals.append(total)

    print(f"mean loss {totals[-1].item() / steps:.4f}")


train()
