"""Each epoch makes a stream, whose cached blocks serve no other stream."""

# memory: 24G
# exit: 0
# verdict: FRAGMENTATION
# reason: streams

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def train(epochs=12, steps=10):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for _ in range(epochs):
        stream = torch.cuda.Stream()
        for _ in range(steps):
            with torch.cuda.stream(stream):
                x = torch.randn(16384, 256, device="cuda")
            torch.cuda.current_stream().wait_stream(stream)
            loss = net(x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            del x


train()
