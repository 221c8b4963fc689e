"""gc-cycle (pytorch#50185): objects in reference cycles hold 4 MB each, until Python's collector
comes along.
"""

# expect: SAWTOOTH
# exit: 0
# steps: 300
# forbid: LEAK GROWING

import gc

import torch
from torch import nn


class Sample:
    def __init__(self):
        self.image = torch.randn(1024, 1024, device="cuda")  # <- SAWTOOTH freed_by=gc
        self.transform = lambda: self.image.mean()


def train(steps=300):
    net = nn.Linear(1024, 16).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    gc.set_threshold(350, 5, 5)

    for _ in range(steps):
        sample = Sample()
        opt.zero_grad()
        loss = (net(sample.image) * sample.transform()).pow(2).mean()
        loss.backward()
        opt.step()
        del sample

    print(f"loss {loss.item():.4f}")


train()
