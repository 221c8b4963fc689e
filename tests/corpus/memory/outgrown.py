"""Two buffers share a size, and the border between them moves: the one that grows never fits into
what it left behind.
"""

# memory: 24G
# exit: 0
# verdict: FRAGMENTATION
# reason: outgrown
# helps: expandable_segments:True

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def block(size):
    return torch.empty(size * MIB, dtype=torch.uint8, device="cuda")


def train(steps=60):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        buffers = [block(size) for size in (400 - 22 - 2 * step, 22 + 2 * step)]
        loss = net(torch.randn(64, 256, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        del buffers


train()
