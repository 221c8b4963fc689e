"""seed-running-loss: `running_loss += loss` after an ordinary backward().

Bad manners, but no GPU leak: the sum is in place, and backward() has freed what the graph saved.
Nodes of the graph pile up in host memory.
"""

# expect: JUMP
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=200):
    net = nn.Sequential(
        nn.Conv2d(3, 64, 3),
        nn.ReLU(),
        nn.Conv2d(64, 256, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(256, 10),
    ).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    running_loss = 0.0

    for _ in range(steps):
        images = torch.randn(16, 3, 32, 32, device="cuda")
        labels = torch.randint(0, 10, (16,), device="cuda")
        opt.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()
        opt.step()  # <- JUMP
        running_loss += loss

    print(f"mean loss {running_loss.item() / steps:.4f}")


train()
