"""progressive-size (pggan-pytorch#16): the side of the images doubles every 100 steps."""

# expect: WORKLOAD
# exit: 0
# steps: 400
# forbid: LEAK GROWING

import torch
from torch import nn


def train(stages=4, steps=100):
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(16, 3, 3, padding=1)
    ).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for stage in range(stages):
        side = 16 * 2**stage
        for _ in range(steps):
            images = torch.randn(8, 3, side, side, device="cuda")
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(images), images)
            loss.backward()
            opt.step()
        print(f"side {side}: loss {loss.item():.4f}")


train()
