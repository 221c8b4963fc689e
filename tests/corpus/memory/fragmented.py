"""Small pieces stay in large segments: what is free would be enough, were it one piece."""

# memory: 1G
# exit: 1
# cause: fragmentation
# reason: pieces
# helps: expandable_segments:True
# helps: max_split_size_mb:21

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def block(size):
    return torch.empty(size * MIB, dtype=torch.uint8, device="cuda")  # <- here, most


def stranded():
    """Segments of 100 MiB, in each of which a piece of 11 MiB is in use."""
    large = [block(100) for _ in range(9)]
    del large
    pieces = [block(size) for _ in range(9) for size in (11, 80)]
    return pieces[::2]


def train(steps=60):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    pieces = []

    for step in range(steps):
        if step == 30:
            pieces = stranded()
        if step == 40:
            block(300)
        loss = net(torch.randn(64, 256, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

    print(len(pieces))


train()
