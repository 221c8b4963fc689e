"""module-log-dict (lightning#8457): a module that logs eight tensors a step into a dictionary of
lists.
"""

# expect: LEAK
# exit: 1
# steps: 150
# rate: 4096

from collections import defaultdict

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 8))
        self.logged = defaultdict(list)

    def log(self, name, value):
        self.logged[name].append(value)

    def training_step(self, x, y):
        outputs = self.body(x)
        errors = (outputs - y).pow(2)
        for i in range(8):
            self.log(f"error_{i}", errors[:, i].mean())  # <- LEAK rate=4096
        return errors.mean()


def train(steps=150):
    model = Model().cuda()
    opt = torch.optim.AdamW(model.parameters())

    for _ in range(steps):
        loss = model.training_step(
            torch.randn(32, 64, device="cuda"), torch.randn(32, 8, device="cuda")
        )
        opt.zero_grad()
        loss.backward()
        opt.step()

    for name, values in model.logged.items():
        print(name, f"{torch.stack(values).mean().item():.4f}")


train()
