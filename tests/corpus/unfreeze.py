"""unfreeze (fastai#2946): the backbone is frozen for 100 steps, then trained in a parameter
group of its own.

Gradients and optimizer state of the backbone appear together at step 101.
"""

# expect: JUMP
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=200, frozen=100):
    backbone = (
        nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 256))
        .cuda()
        .requires_grad_(False)
    )
    head = nn.Linear(256, 10).cuda()
    opt = torch.optim.AdamW(head.parameters())

    for step in range(steps):
        if step == frozen:
            backbone.requires_grad_(True)
            opt.add_param_group({"params": backbone.parameters(), "lr": 1e-4})
        x = torch.randn(64, 256, device="cuda")
        y = torch.randint(0, 10, (64,), device="cuda")
        opt.zero_grad()
        loss = nn.functional.cross_entropy(head(backbone(x)), y)
        loss.backward()
        opt.step()  # <- JUMP size=2.0 occasion=later-for-parameters-that-joined

    print(f"loss {loss.item():.4f}")


train()
