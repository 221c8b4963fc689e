"""trials (transformers#13019): a search over ten settings keeps every trainer in its registry.

Thirty steps each; model, gradients and optimizer state of all trials stay.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 70246.4

import torch
from torch import nn


class Trainer:
    def __init__(self, rate):
        self.net = nn.Sequential(
            nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128)
        ).cuda()  # <- LEAK rate=17561.6 period=30
        self.opt = torch.optim.Adam(self.net.parameters(), lr=rate)

    def fit(self, steps=30):
        for _ in range(steps):
            x = torch.randn(64, 128, device="cuda")
            self.opt.zero_grad()
            loss = nn.functional.mse_loss(self.net(x), x)
            loss.backward()  # <- LEAK thread rate=17561.6 period=30
            self.opt.step()  # <- LEAK rate=35123.2 period=30
        return loss.item()


registry = {}
for trial in range(10):
    rate = 1e-4 * 2**trial
    registry[rate] = Trainer(rate)
    print(f"rate {rate:.4f}: loss {registry[rate].fit():.4f}")
