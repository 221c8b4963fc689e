"""pinned (pytorch#97432): pinned host buffers are kept. That is host memory, and no leak of the
GPU's.
"""

# expect: STABLE
# host: HOST
# exit: 0
# gate: host
# steps: 120
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=120):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    buffers = []

    for _ in range(steps):
        buffer = torch.randn(64, 256).pin_memory()
        buffers.append(buffer)
        opt.zero_grad()
        loss = net(buffer.cuda(non_blocking=True)).pow(2).mean()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, {len(buffers)} buffers")


train()
