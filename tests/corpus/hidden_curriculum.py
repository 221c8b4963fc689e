"""hidden-curriculum: batches grow from 32 rows to 430, but the highest peak of each step is the
optimizer's, so that what a step needs hardly grows. The last batch and its outputs are there at each mark.
"""

# expect: WORKLOAD
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=200, width=768):
    net = nn.Sequential(
        nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 256)
    ).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        x = torch.randn(32 + 2 * step, 256, device="cuda")  # <- WORKLOAD
        opt.zero_grad()
        out = net(x)  # <- WORKLOAD
        loss = nn.functional.mse_loss(out, x)
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
