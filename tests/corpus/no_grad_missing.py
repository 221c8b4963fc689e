"""no-grad-missing (semseg#60): validation without no_grad() every 40 steps. A higher peak then,
but nothing is kept.
"""

# expect: STABLE
# exit: 0
# steps: 240
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=240, every=40):
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 19, 3, padding=1)
    ).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        x = torch.randn(4, 3, 64, 64, device="cuda")
        y = torch.randint(0, 19, (4, 64, 64), device="cuda")
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        if step % every == every - 1:
            for _ in range(3):
                scores = net(torch.randn(16, 3, 128, 128, device="cuda"))
            print(f"step {step}: validation {scores.mean().item():.4f}")
            del scores


train()
