"""val-outputs-kept (lightning#5735): the outputs of the last validation stay until the next one
replaces them.
"""

# expect: PLATEAU
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import torch
from torch import nn


def validate(net):
    with torch.no_grad():
        return [net(torch.randn(256, 128, device="cuda")) for _ in range(8)]


def train(steps=200, every=20):
    net = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 500)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    outputs = None

    for step in range(steps):
        x, y = torch.randn(64, 128, device="cuda"), torch.randint(0, 500, (64,), device="cuda")
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        if step % every == every - 1:
            outputs = validate(net)

    print(f"loss {loss.item():.4f}, {len(outputs)} outputs")


train()
