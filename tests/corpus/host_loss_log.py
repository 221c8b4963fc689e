"""host-loss-log (wandb#354): losses with their graph nodes are logged for thousands of steps.

512 bytes a step on the GPU; the nodes pile up in host memory.
"""

# expect: LEAK
# host: HOST
# exit: 1
# steps: 5000
# rate: 512

import torch
from torch import nn


def train(steps=5000):
    net = nn.Linear(16, 1).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    log = []

    for _ in range(steps):
        opt.zero_grad()
        loss = net(torch.randn(8, 16, device="cuda")).pow(2).mean()  # <- LEAK rate=512
        loss.backward()
        opt.step()
        log.append({"loss": loss})

    print(f"mean loss {sum(entry['loss'].item() for entry in log[-100:]) / 100:.4f}")


train()
