"""mixed-precision: autocast and GradScaler as in the handbook; casts are cached within a step
and dropped after it.
"""

# expect: JUMP
# exit: 0
# steps: 120
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=120):
    net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
    opt = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**10)

    for _ in range(steps):
        x = torch.randn(128, 512, device="cuda")
        opt.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(net(x), x)
        scaler.scale(loss).backward()
        scaler.step(opt)  # <- JUMP
        scaler.update()

    print(f"loss {loss.item():.4f}")


train()
