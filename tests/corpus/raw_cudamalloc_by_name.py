"""raw-cudamalloc, second program: a library that finds cudaMalloc in libcudart by name, so that no
hook sees its calls, and never frees.

The program logs how much of the GPU is free, as a monitor does: that grows without a site.
"""

# expect: DRIVER
# exit: 0
# gate: driver
# steps: 120
# forbid: LEAK GROWING
# version: 2.15

import ctypes

import torch
from torch import nn


def train(steps=120):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    cuda = ctypes.CDLL("libcudart.so.13")
    taken, log = [], []

    for _ in range(steps):
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
        pointer = ctypes.c_void_p()
        cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(2 << 20))
        taken.append(pointer)
        log.append(torch.cuda.mem_get_info()[0])

    print(f"loss {loss.item():.4f}, {log[0] - log[-1]} bytes fewer are free")


train()
