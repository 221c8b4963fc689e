"""Sizes that change, and an empty_cache() every few steps: reserved goes up and down without a
report of the allocator.
"""

import random

import torch
from torch import nn

random.seed(7)
net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
opt = torch.optim.AdamW(net.parameters())
kept = []
for step in range(120):
    x = torch.randn(random.randint(1, 8000), 256, device="cuda")
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), x)
    if step % 7 == 3:
        kept = [
            torch.empty(random.randint(1, 30) << 20, dtype=torch.uint8, device="cuda")
            for _ in range(4)
        ]
    if step % 10 == 8:
        kept.clear()
        torch.cuda.empty_cache()  # in the middle of a step
    loss.backward()
    del x
    if step % 11 == 5:
        torch.cuda.empty_cache()  # just before its end
    opt.step()
print(f"loss {loss.item():.4f}")
