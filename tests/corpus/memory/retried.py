"""A batch that is too large is caught and halved; the training goes on."""

# memory: 1G
# exit: 0
# cause: size
# caught: 3

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def batch(size):
    try:
        return torch.randn(size, 1024, device="cuda")  # <- here
    except torch.cuda.OutOfMemoryError:
        return batch(size // 2)


def train(steps=60):
    net = nn.Linear(1024, 16).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    for step in range(steps):
        x = batch(MIB if step == 50 else 64)
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


train()
