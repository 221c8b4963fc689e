"""Two optimizers step in turn, as a GAN's do: a turn of both is one step."""

# marks: 12

import torch
from tiny import Momentum
from torch import nn

generator, critic = nn.Linear(16, 16).cuda(), nn.Linear(16, 1).cuda()
optimizers = [Momentum(m.parameters()) for m in (generator, critic)]
for turn in range(12):
    for optimizer in optimizers:
        optimizer.zero_grad()
        critic(generator(torch.randn(8, 16, device="cuda"))).sum().backward()
        optimizer.step()
print(torch.cuda.memory_allocated())
