"""create-graph-cycle (pytorch#7343): backward(create_graph=True), gradients zeroed through
.data.

A gradient made with create_graph has a graph, and the next backward() adds to it out of place:
each gradient holds the ones before it and all that their graphs saved. zero_grad() would have
cut that.
"""

# expect: LEAK
# exit: 1
# steps: 150
# rate: 176640

import torch
from torch import nn


def train(steps=150):
    net = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 16)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for _ in range(steps):
        x, y = torch.randn(64, 128, device="cuda"), torch.randn(64, 16, device="cuda")  # <- LEAK rate=36864
        for p in net.parameters():
            if p.grad is not None:
                p.grad.data.zero_()
        loss = nn.functional.mse_loss(net(x), y)  # <- LEAK rate=69632
        loss.backward(create_graph=True)  # <- LEAK operation=AddmmBackward0 rate=70144
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        opt.step()

    print(f"loss {loss.item():.4f}, norm of the gradient {norm.item():.4f}")


train()
