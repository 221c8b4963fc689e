"""heavy-tail (maskrcnn-benchmark#18): the number of boxes in an image has a heavy tail; record
highs come late.
"""

# expect: NOISY
# exit: 0
# steps: 400
# forbid: LEAK GROWING

import random

import torch
from torch import nn


def train(steps=400):
    random.seed(4)
    head = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 5)).cuda()
    opt = torch.optim.SGD(head.parameters(), lr=1e-2)

    for _ in range(steps):
        boxes = min(int(200 * random.paretovariate(1.3)), 60_000)
        features = torch.randn(boxes, 256, device="cuda")
        targets = torch.randn(boxes, 5, device="cuda")
        opt.zero_grad()
        loss = nn.functional.smooth_l1_loss(head(features), targets)
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
