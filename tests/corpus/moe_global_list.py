"""moe-global-list (megablocks#119): each of 16 expert layers adds its router's load to a list of
the module.

The list is meant to be emptied by the load-balancing loss, which this configuration does not
use.
"""

# expect: LEAK
# exit: 1
# steps: 120
# rate: 8192

import torch
from torch import nn

router_loads = []


class ExpertLayer(nn.Module):
    def __init__(self, width=64, experts=8):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.Parameter(torch.randn(experts, width, width) * 0.02)

    def forward(self, x):
        gates = self.router(x).softmax(-1)
        router_loads.append(gates.detach().mean(0))  # <- LEAK rate=8192
        return x + torch.einsum("bw,ewv,be->bv", x, self.experts, gates)


def train(steps=120):
    net = nn.Sequential(*(ExpertLayer() for _ in range(16))).cuda()
    opt = torch.optim.AdamW(net.parameters())

    for _ in range(steps):
        loss = net(torch.randn(32, 64, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, loads {len(router_loads)}")


train()
