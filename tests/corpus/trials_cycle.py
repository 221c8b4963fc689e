"""trials-cycle (MONAI#3423): ten trials whose trainers are dropped, but each sits in a reference
cycle.

Only Python's garbage collector can free them, and here it runs after every third trial.
"""

# expect: SAWTOOTH
# exit: 0
# steps: 360
# forbid: LEAK GROWING

import gc

import torch
from torch import nn


class Trainer:
    def __init__(self, rate):
        layers = nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128)
        self.net = nn.Sequential(*layers).cuda()  # <- SAWTOOTH period=90 freed_by=gc
        self.opt = torch.optim.Adam(self.net.parameters(), lr=rate)
        self.callbacks = [self.report]

    def report(self, loss):
        print(f"loss {loss:.4f}")

    def fit(self, steps=30):
        for _ in range(steps):
            x = torch.randn(64, 128, device="cuda")
            self.opt.zero_grad()
            loss = nn.functional.mse_loss(self.net(x), x)
            loss.backward()
            self.opt.step()  # <- SAWTOOTH period=90 freed_by=gc
        for callback in self.callbacks:
            callback(loss.item())


gc.disable()
for trial in range(12):
    Trainer(1e-4 * 2**trial).fit()
    if trial % 3 == 2:
        gc.collect()
