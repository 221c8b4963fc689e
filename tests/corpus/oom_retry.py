"""oom-retry (pytorch#27600): a batch that is too large is caught, and the exception kept for the
log.

Its traceback holds the frames, and those hold every activation that was there when memory ran
out.
"""

# expect: LEAK
# exit: 1
# steps: 240
# rate: 891289.6
# memory: 2G

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 1024), nn.Linear(1024, 64)

    def forward(self, x):
        hidden = torch.relu(self.up(x))  # <- LEAK rate=838860.8 period=20
        return self.down(hidden.repeat(256, 1))


def train(steps=240):
    net = Net().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    failures = []

    for step in range(steps):
        if step % 20 == 10:
            try:
                net(torch.randn(4096, 64, device="cuda"))  # <- LEAK rate=52428.8 period=20
            except torch.cuda.OutOfMemoryError as error:
                failures.append(error)
        x = torch.randn(32, 64, device="cuda")
        opt.zero_grad()
        loss = net.down(torch.relu(net.up(x))).pow(2).mean()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, {len(failures)} batches were too large")


train()
