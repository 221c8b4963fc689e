"""A leak until the GPU is full."""

# memory: 512M
# exit: 1
# cause: leak

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def train():
    net = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1)).cuda()
    opt = torch.optim.AdamW(net.parameters())
    kept = []

    while True:
        x = torch.randn(2048, 1024, device="cuda")  # <- most
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()  # <- here
        opt.step()
        kept.append(x)


train()
