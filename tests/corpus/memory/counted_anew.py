"""Steps are counted anew on the way: what came before in the ring has higher numbers."""

# memory: 1G
# exit: 1
# cause: size

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def train(steps=30):
    net = nn.Linear(1024, 1024).cuda()  # <- most

    for _ in range(60):  # no optimizer yet: the ends of backward passes are the clock
        net(torch.randn(64, 1024, device="cuda")).pow(2).mean().backward()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(steps):
        x = torch.randn(MIB if step == 25 else 64, 1024, device="cuda")  # <- here
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        opt.zero_grad()


train()
