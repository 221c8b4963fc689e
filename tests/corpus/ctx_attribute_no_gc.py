"""ctx-attribute, without a collection: the same program, and Python's collector never runs.

Its events are those of a leak, and the report says that it cannot know the bound.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 524288
# bound: unknown

import gc

import torch
from torch import nn


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x  # <- LEAK rate=262144
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
        x = torch.randn(256, 256, device="cuda", requires_grad=True)  # <- LEAK rate=262144
        penalty = Square.apply(x).mean().detach()
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x.detach()), x.detach())
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, penalty {penalty.item():.4f}")


train()
