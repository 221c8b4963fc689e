"""last-checkpoints: the three best states are kept on the GPU, replaced at times that nobody can
foresee.
"""

# expect: JUMP
# exit: 0
# steps: 300
# forbid: LEAK GROWING

import copy
import random

import torch
from torch import nn


def train(steps=300, keep=3):
    random.seed(9)
    net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda()
    opt = torch.optim.AdamW(net.parameters())
    best = []

    for step in range(steps):
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()
        if step % 10 == 9:
            best.append((random.random(), step, copy.deepcopy(net.state_dict())))
            best = sorted(best, key=lambda entry: entry[:2])[:keep]

    print(f"loss {loss.item():.4f}, kept {[entry[1] for entry in best]}")


train()
