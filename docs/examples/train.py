"""A training script with a leak in it, as people write them: see what gpuleak says about it.

scripts/demo.sh
"""

import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1)
        self.conv2 = nn.Conv2d(64, 256, 3, padding=1)
        self.head = nn.Conv2d(256, 1, 1)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.head(x)


def train(steps=400):
    net = Segmenter().cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    logits_buf, labels_buf, loss_hist = [], [], []

    for step in range(1, steps + 1):
        images = torch.randn(16, 3, 64, 64).cuda()
        labels = torch.randint(0, 2, (16, 1, 64, 64)).float().cuda()
        opt.zero_grad()
        logits = net(images)
        loss = criterion(logits, labels)
        loss.backward()
        opt.step()

        # For the statistics at the end.
        logits_buf.append(logits)
        labels_buf.append(labels)
        loss_hist.append(loss)

        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.4f}")

    hits = [((a > 0) == (b > 0.5)).float().mean().item() for a, b in zip(logits_buf, labels_buf)]
    print(f"mean loss {torch.stack(loss_hist).mean().item():.4f}, accuracy {sum(hits) / steps:.4f}")


train()
