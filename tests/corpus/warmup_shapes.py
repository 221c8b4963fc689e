"""warmup-shapes (pytorch#1509): five input sizes come up in the first 30 steps, and a helper is
cached for each.
"""

# expect: PLATEAU
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import functools

import torch
from torch import nn


@functools.lru_cache(maxsize=None)
def grid(side):
    axis = torch.linspace(-1, 1, side, device="cuda")
    return (
        torch.stack(torch.meshgrid(axis, axis, indexing="ij")).expand(8, 2, side, side).contiguous()
    )


def train(steps=200):
    net = nn.Conv2d(5, 3, 3, padding=1).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    sides = (256, 320, 384, 448, 512)

    for step in range(steps):
        side = sides[min(step // 7, 4)] if step < 35 else sides[step % 5]
        x = torch.randn(8, 3, side, side, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(torch.cat([x, grid(side)], dim=1)), x)
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
