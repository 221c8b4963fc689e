"""leak-under-noise: 512 bytes are kept each step while the batches around them vary by 30 %
about 100 MB.

A curve of allocated memory cannot show it. The sizes are random, but the same in each run.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 512
# uneven: batches of other sizes are alive at each mark

import random

import torch
from torch import nn


def train(steps=300):
    random.seed(1)
    net = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 16)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    history = []

    for _ in range(steps):
        rows = int(12_000 * random.uniform(0.7, 1.3))
        x = torch.randn(rows, 1024, device="cuda")
        y = torch.randint(0, 16, (rows,), device="cuda")
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        history.append(loss.detach() * 1.0)  # <- LEAK rate=512

    print(f"mean loss {torch.stack(history).mean().item():.4f}")


train()
