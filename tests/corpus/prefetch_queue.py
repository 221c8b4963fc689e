"""prefetch-queue: a loader keeps six batches ready on the GPU. Blocks live for six steps, never
longer.
"""

# expect: STABLE
# exit: 0
# steps: 200
# forbid: LEAK GROWING

from collections import deque

import torch
from torch import nn


def train(steps=200, ready=6):
    net = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    queue = deque()

    for _ in range(steps):
        while len(queue) < ready:
            queue.append(torch.randn(256, 512).pin_memory().cuda(non_blocking=True))
        x = queue.popleft()
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
