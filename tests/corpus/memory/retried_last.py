"""The same in the very last step: no mark comes behind it, and yet it didn't end the run."""

# memory: 1G
# exit: 0
# cause: size
# caught: 1

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def train(steps=40):
    net = nn.Linear(1024, 16).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    for _ in range(steps):
        loss = net(torch.randn(64, 1024, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    try:
        torch.randn(MIB, 1024, device="cuda")  # <- here
    except torch.cuda.OutOfMemoryError:
        torch.randn(64, 1024, device="cuda")


train()
