"""concat-forever: `history = torch.cat([history, new])` each step. One block lives at a time,
ever larger.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 8192
# uneven: a block of more than 1 MiB is not split to size

import torch
from torch import nn


def train(steps=300):
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    history = torch.empty(0, 64, device="cuda")

    for _ in range(steps):
        x = torch.randn(32, 64, device="cuda")
        opt.zero_grad()
        outputs = net(x)
        loss = nn.functional.mse_loss(outputs, x)
        loss.backward()
        opt.step()
        history = torch.cat([history, outputs.detach()])  # <- LEAK swell rate=8192

    print(f"loss {loss.item():.4f}, history {tuple(history.shape)}")


train()
