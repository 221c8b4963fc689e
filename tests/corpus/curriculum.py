"""curriculum (speechbrain#841): sequences grow from step to step; between steps memory comes
back to the same floor.
"""

# expect: WORKLOAD
# exit: 0
# steps: 250
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=250):
    net = nn.Sequential(nn.Linear(80, 512), nn.ReLU(), nn.Linear(512, 80)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        features = torch.randn(16, 50 + 2 * step, 80, device="cuda")  # <- WORKLOAD
        opt.zero_grad()
        loss = nn.functional.l1_loss(net(features), features)
        loss.backward()
        opt.step()
        del features

    print(f"loss {loss.item():.4f}")


train()
