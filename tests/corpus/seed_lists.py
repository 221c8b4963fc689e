"""seed-lists: a training loop that keeps logits, labels and losses in lists for the statistics
at the end.

backward() has freed the graph, so what stays each step is the three tensors themselves. AdamW's
state is there too, and is no leak.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 524800

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1)
        self.conv2 = nn.Conv2d(64, 256, 3, padding=1)
        self.head = nn.Conv2d(256, 1, 1)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.head(x)  # <- LEAK rate=262144


def train(steps=200):
    net = Net().cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    logits_buf, labels_buf, loss_hist = [], [], []

    for _ in range(steps):
        bx = torch.randn(16, 3, 64, 64).cuda()
        by = torch.randint(0, 2, (16, 1, 64, 64)).float().cuda()  # <- LEAK rate=262144
        opt.zero_grad()
        logits = net(bx)
        loss = criterion(logits, by)  # <- LEAK rate=512
        loss.backward()
        opt.step()  # <- JUMP

        logits_buf.append(logits)
        labels_buf.append(by)
        loss_hist.append(loss)

    accuracy = (
        sum(((a > 0) == (b > 0.5)).float().mean().item() for a, b in zip(logits_buf, labels_buf))
        / steps
    )
    print(f"mean loss {sum(loss_hist).item() / steps:.4f}, accuracy {accuracy:.4f}")


train()
