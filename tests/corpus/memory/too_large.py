"""One batch is larger than the whole GPU."""

# memory: 1G
# exit: 1
# cause: size

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def train(steps=60):
    net = nn.Linear(1024, 1024).cuda()  # <- most
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    for step in range(steps):
        x = torch.randn(MIB if step == 50 else 64, 1024, device="cuda")  # <- here
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        opt.zero_grad()


train()
