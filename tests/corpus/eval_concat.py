"""eval-concat (transformers#12878): each evaluation concatenates its outputs step by step, and
drops them at its end: before the next optimizer step, so nothing of it is there at a mark.
"""

# expect: STABLE
# exit: 0
# steps: 200
# forbid: LEAK GROWING

import torch
from torch import nn


def evaluate(net):
    gathered = None
    with torch.no_grad():
        for _ in range(20):
            scores = net(torch.randn(128, 64, device="cuda"))
            gathered = scores if gathered is None else torch.cat([gathered, scores])
    return gathered.mean().item()


def train(steps=200, every=25):
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 200)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        x, y = torch.randn(64, 64, device="cuda"), torch.randint(0, 200, (64,), device="cuda")
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        if step % every == every - 1:
            print(f"step {step}: {evaluate(net):.4f}")


train()
