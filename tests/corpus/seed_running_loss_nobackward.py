"""seed-running-loss-nobackward: a validation loss summed up without no_grad() and without
backward().

The sum's graph reaches back to every validation batch: inputs and all that forward saved for a
backward pass that never comes.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 3247616

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.conv1(x))  # <- LEAK rate=1048576
        x = torch.relu(self.conv2(x))  # <- LEAK rate=2097152
        return self.fc(x.mean((2, 3)))  # <- LEAK rate=2048


def batch():
    return torch.randn(8, 3, 32, 32).cuda(), torch.randint(0, 10, (8,)).cuda()  # <- LEAK rate=98816


def run(steps=200):
    net = Net().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    running_loss = 0.0

    for step in range(steps):
        x, y = batch()
        opt.zero_grad()
        criterion(net(x), y).backward()
        opt.step()

        x, y = batch()
        running_loss += criterion(net(x), y)  # <- LEAK rate=1024

    print(f"validation loss {running_loss.item() / steps:.4f}")


run()
