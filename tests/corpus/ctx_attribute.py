"""ctx-attribute (pytorch#25340): an autograd.Function hangs its output on ctx instead of saving
it.

ctx and output hold each other, so each call leaves a cycle. Python's collector frees it, here
every 50 steps.
"""

# expect: SAWTOOTH
# exit: 0
# steps: 300
# forbid: LEAK GROWING

import gc

import torch
from torch import nn


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x  # <- SAWTOOTH period=50 freed_by=gc
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.y.sqrt()


def train(steps=300):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    gc.disable()

    for step in range(steps):
        x = torch.randn(256, 256, device="cuda", requires_grad=True)  # <- SAWTOOTH
        penalty = Square.apply(x).mean().detach()
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x.detach()), x.detach())
        loss.backward()
        opt.step()
        if step % 50 == 49:
            gc.collect()

    print(f"loss {loss.item():.4f}, penalty {penalty.item():.4f}")


train()
