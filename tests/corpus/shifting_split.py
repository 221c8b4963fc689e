"""shifting-split: each step splits one budget between two buffers; the first takes ever more, the
second ever less. One line's memory grows at every step, the GPU's doesn't.
"""

# expect: WORKLOAD
# exit: 0
# steps: 150
# forbid: LEAK GROWING

import torch
from torch import nn

KIB = 1024


def train(steps=150):
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        near = torch.empty((200 + 12 * step) * KIB, dtype=torch.uint8, device="cuda")
        far = torch.empty((2200 - 12 * step) * KIB, dtype=torch.uint8, device="cuda")
        opt.zero_grad()
        loss = net(torch.randn(32, 256, device="cuda")).pow(2).mean()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, {near.numel() + far.numel()} bytes")


train()
