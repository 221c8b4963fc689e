"""ema-late (yolov5#8657): an averaged copy of the model is made at step 50, once: as large as
the parameters.
"""

# expect: JUMP
# exit: 0
# steps: 150
# forbid: LEAK GROWING

import copy

import torch
from torch import nn


def train(steps=150, start=50):
    net = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 256)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    average = None

    for step in range(steps):
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()
        if step == start:
            average = copy.deepcopy(net).requires_grad_(False)  # <- JUMP first=52 occasion=copy-of-the-model
        elif average is not None:
            with torch.no_grad():
                for kept, new in zip(average.parameters(), net.parameters()):
                    kept.lerp_(new, 0.01)

    print(f"loss {loss.item():.4f}")


train()
