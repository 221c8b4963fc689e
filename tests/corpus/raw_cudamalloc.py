"""raw-cudamalloc: a clean training loop, and beside it a library that calls cudaMalloc itself
and never frees.

PyTorch's own numbers do not know of it; cudaMalloc does.
"""

# expect: LEAK
# exit: 1
# steps: 120

import ctypes

import torch
from torch import nn

cuda = ctypes.CDLL(None)


def scratch(megabytes):
    pointer, size = ctypes.c_void_p(), ctypes.c_size_t(megabytes << 20)
    cuda.cudaMalloc(ctypes.byref(pointer), size)  # <- LEAK outside rate=2097152
    return pointer


def train(steps=120):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for _ in range(steps):
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
        scratch(2)

    print(f"loss {loss.item():.4f}")


train()
