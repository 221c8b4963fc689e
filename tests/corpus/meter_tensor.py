"""meter-tensor (SpareNet#12): an AverageMeter that is given tensors and keeps every one.

mse_loss() reduces in place, so its one number stands in a storage for all 64 x 64 differences.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 16896

import torch
from torch import nn


class AverageMeter:
    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)

    def average(self):
        return sum(self.values) / len(self.values)


def train(steps=200):
    net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 64)).cuda()
    opt = torch.optim.Adam(net.parameters())
    coarse, fine = AverageMeter(), AverageMeter()

    for _ in range(steps):
        points = torch.randn(64, 128, device="cuda")
        target = torch.randn(64, 64, device="cuda")
        opt.zero_grad()
        guess = net(points)
        loss_coarse = nn.functional.l1_loss(guess, target)  # <- LEAK rate=512
        loss_fine = nn.functional.mse_loss(guess, target)  # <- LEAK rate=16384
        (loss_coarse + 0.5 * loss_fine).backward()
        opt.step()
        coarse.update(loss_coarse)
        fine.update(loss_fine)

    print(f"coarse {coarse.average().item():.4f}, fine {fine.average().item():.4f}")


train()
