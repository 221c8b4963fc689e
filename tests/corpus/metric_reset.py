"""metric-never-reset, mended: the metric is reset at the end of each epoch, so its lists fill
and empty.

The predictions are large enough that the saw shows.
"""

# expect: SAWTOOTH
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import torch
from torch import nn


class Confusion:
    def __init__(self):
        self.reset()

    def reset(self):
        self.predictions, self.targets = [], []

    def update(self, predictions, target):
        self.predictions.append(predictions.detach().clone())  # <- SAWTOOTH period=40 freed_by=program
        self.targets.append(target)

    def compute(self):
        return (torch.cat(self.predictions).argmax(1) == torch.cat(self.targets)).float().mean()


def train(epochs=5, steps=40):
    net = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 1000)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    metric = Confusion()

    for epoch in range(epochs):
        for _ in range(steps):
            x, y = torch.randn(256, 32, device="cuda"), torch.randint(
                0, 1000, (256,), device="cuda"
            )
            opt.zero_grad()
            guess = net(x)
            nn.functional.cross_entropy(guess, y).backward()
            opt.step()
            metric.update(guess, y)
        print(f"epoch {epoch}: accuracy {metric.compute().item():.3f}")
        metric.reset()


train()
