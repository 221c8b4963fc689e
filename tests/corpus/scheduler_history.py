"""scheduler-history: gradient norms as tensors in a scheduler's history, and a checkpoint of it
every 50 steps.

state_dict() holds the same tensors, so the checkpoints in memory add nothing to the leak.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 512

import torch
from torch import nn


class PlateauByNorm:
    def __init__(self, opt):
        self.opt, self.history = opt, []

    def step(self, norm):
        self.history.append(norm)

    def state_dict(self):
        return {"history": list(self.history)}


def train(steps=200):
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    opt = torch.optim.AdamW(net.parameters())
    scheduler, checkpoints = PlateauByNorm(opt), []

    for step in range(steps):
        x = torch.randn(32, 64, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <- LEAK rate=512
        opt.step()
        scheduler.step(norm)
        if step % 50 == 49:
            checkpoints.append(scheduler.state_dict())

    print(f"loss {loss.item():.4f}, {len(checkpoints)} checkpoints")


train()
