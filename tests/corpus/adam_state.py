"""adam-state (pytorch#9439): memory rises by twice the parameters in the first step of Adam, and
never again.
"""

# expect: JUMP
# exit: 0
# steps: 60
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=60):
    net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)

    for _ in range(steps):
        x = torch.randn(64, 512, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()  # <- JUMP kind=optimizer-state size=2.0 first=1 occasion=first-optimizer-step

    print(f"loss {loss.item():.4f}")


train()
