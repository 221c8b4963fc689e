"""Gradient checkpointing, both kinds, with dropout whose random state has to be restored."""

# expect: clean
# steps: 40

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def block():
    return nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 128))


def main():
    first = nn.ModuleList(block() for _ in range(4)).cuda()
    second = nn.Sequential(*(block() for _ in range(4))).cuda()
    opt = torch.optim.AdamW([*first.parameters(), *second.parameters()], lr=1e-3)

    for step in range(40):
        x = torch.randn(32, 128, device="cuda", requires_grad=True)
        y = x
        for part in first:
            y = checkpoint(part, y, use_reentrant=False)
        y = checkpoint_sequential(second, 2, y, use_reentrant=True)
        loss = y.square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
