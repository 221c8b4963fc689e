"""The same training on CPU tensors, where losses are numbers; and the environment that the
program can see.
"""

import os

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10))
opt = torch.optim.AdamW(net.parameters())
for step in range(60):
    x = torch.randn(64, 128)
    y = torch.randint(0, 10, (64,))
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    if step % 10 == 9:
        print(step, f"{loss.item():.9f}")
print(sum(p.double().sum().item() for p in net.parameters()))
print(sorted(name for name in os.environ if not name.startswith(("GPULEAK_", "LD_"))))
