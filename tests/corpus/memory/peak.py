"""No trouble: only the peak, in the middle of a step in the middle of the run."""

# memory: 1G
# exit: 0

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def validate(net):
    with torch.no_grad():
        big = torch.randn(16384, 1024, device="cuda")
        return net(big).sum().item()  # <- most


def train(steps=60):
    net = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1)).cuda()
    opt = torch.optim.AdamW(net.parameters())

    for step in range(steps):
        loss = net(torch.randn(64, 1024, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step == 30:
            validate(net)


train()
