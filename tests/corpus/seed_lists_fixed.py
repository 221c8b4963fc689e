"""seed-lists-fixed: the same statistics, kept as numbers and as host tensors that no graph hangs
on.

What is left on the GPU after the first step is AdamW's state, which appears in the first
opt.step() and stays.
"""

# expect: JUMP
# exit: 0
# steps: 200
# forbid: LEAK GROWING

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
        return self.head(x)


def train(epochs=4, steps=50):
    net = Net().cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()

    for epoch in range(epochs):
        logits_buf, labels_buf, loss_hist = [], [], []
        for _ in range(steps):
            bx = torch.randn(16, 3, 64, 64).cuda()
            by = torch.randint(0, 2, (16, 1, 64, 64)).float().cuda()
            opt.zero_grad()
            logits = net(bx)
            loss = criterion(logits, by)
            loss.backward()
            opt.step()  # <- JUMP

            logits_buf.append(logits.detach().cpu())
            labels_buf.append(by.cpu())
            loss_hist.append(loss.item())

        accuracy = (
            sum(
                ((a > 0) == (b > 0.5)).float().mean().item() for a, b in zip(logits_buf, labels_buf)
            )
            / steps
        )
        print(f"epoch {epoch}: mean loss {sum(loss_hist) / steps:.4f}, accuracy {accuracy:.4f}")


train()
