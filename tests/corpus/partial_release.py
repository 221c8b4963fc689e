"""partial-release: a cache drops nine of ten entries at each clean-up, and the tenth is pinned
for good.

The site frees most of what it allocates, so only what outlives its usual age tells.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 819.2
# uneven: up to ten entries are alive beside those that stay

import torch
from torch import nn


def train(steps=300):
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    cache, pinned = {}, {}

    for step in range(steps):
        x = torch.randn(32, 64, device="cuda")
        opt.zero_grad()
        outputs = net(x)
        loss = nn.functional.mse_loss(outputs, x)
        loss.backward()
        opt.step()
        cache[step] = torch.relu(outputs.detach())  # <- LEAK rate=819.2
        if len(cache) == 10:
            pinned[step] = cache[step]
            cache.clear()

    print(f"loss {loss.item():.4f}, {len(pinned)} pinned")


train()
