"""create-graph-cycle, mended: zero_grad() drops each gradient, and with it its graph."""

# expect: STABLE
# exit: 0
# steps: 150
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=150):
    net = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 16)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for _ in range(steps):
        x, y = torch.randn(64, 128, device="cuda"), torch.randn(64, 16, device="cuda")
        opt.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward(create_graph=True)
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        opt.step()

    print(f"loss {loss.item():.4f}, norm of the gradient {norm.item():.4f}")


train()
