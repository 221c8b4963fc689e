"""grad-accumulation: eight small batches for each optimizer step. A step is an optimizer step,
and nothing is kept.
"""

# expect: STABLE
# exit: 0
# steps: 60
# forbid: LEAK GROWING JUMP WORKLOAD

import torch
from torch import nn


def train(turns=480, accumulate=8):
    net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for turn in range(turns):
        x = torch.randn(128, 256, device="cuda")
        loss = nn.functional.mse_loss(net(x), x)
        (loss / accumulate).backward()
        if turn % accumulate == accumulate - 1:
            opt.step()
            opt.zero_grad()

    print(f"loss {loss.item():.4f}")


train()
