"""The model alone is too large: there is not even a first step."""

# memory: 512M
# exit: 1
# cause: size

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def train():
    layers = []
    for _ in range(100):
        layers.append(nn.Linear(4096, 4096, bias=False).cuda())  # <- here, most
    return nn.Sequential(*layers)


train()
