"""metric-never-reset (torchmetrics#3294): a metric that keeps predictions and targets, and is
never reset.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 1024

import torch
from torch import nn


class Correlation:
    def __init__(self):
        self.reset()

    def reset(self):
        self.predictions, self.targets = [], []

    def update(self, predictions, target):
        self.predictions.append(predictions.detach().float().squeeze(1).clone())  # <- LEAK rate=512
        self.targets.append(target.detach().float().squeeze(1).clone())  # <- LEAK rate=512

    def compute(self):
        return torch.corrcoef(torch.stack([torch.cat(self.predictions), torch.cat(self.targets)]))[
            0, 1
        ]


def train(epochs=5, steps=40):
    net = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
    opt = torch.optim.Adam(net.parameters())
    metric = Correlation()

    for epoch in range(epochs):
        for _ in range(steps):
            x, y = torch.randn(64, 32, device="cuda"), torch.randn(64, 1, device="cuda")
            opt.zero_grad()
            guess = net(x)
            nn.functional.mse_loss(guess, y).backward()
            opt.step()
            metric.update(guess, y)
        print(f"epoch {epoch}: correlation {metric.compute().item():.3f}")


train()
