"""Prints what a program can see of its own memory: totals, peaks and counters of the allocator,
and losses.
"""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
opt = torch.optim.AdamW(net.parameters())
history = []
for step in range(60):
    x = torch.randn(64, 128).cuda()
    y = torch.randint(0, 10, (64,)).cuda()
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    history.append(loss)
    if step % 10 == 9:
        print(
            step, f"{loss.item():.6f}", torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        )

torch.cuda.empty_cache()
print(
    torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), torch.cuda.max_memory_allocated()
)
stats = torch.cuda.memory_stats()
print(
    {
        name: stats[name]
        for name in (
            "allocation.all.allocated",
            "segment.all.allocated",
            "num_alloc_retries",
            "num_ooms",
        )
    }
)
