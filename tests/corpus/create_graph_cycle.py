"""create-graph-cycle (pytorch#7343): backward(create_graph=True) leaves gradients that hold
their graph.

Parameter, gradient and graph are a cycle that no collector sees; the gradients are kept from
step to step here.
"""

# expect: LEAK
# exit: 1
# steps: 150

import torch
from torch import nn


def train(steps=150):
    net = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 16)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for _ in range(steps):
        x, y = torch.randn(64, 128, device="cuda"), torch.randn(64, 16, device="cuda")
        opt.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward(create_graph=True)
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        opt.step()

    print(f"loss {loss.item():.4f}, norm of the gradient {norm.item():.4f}")


train()
