"""epoch-metric (lightning#5733): outputs are gathered for the epoch's metric, and cleared after
40 steps.
"""

# expect: SAWTOOTH
# exit: 0
# steps: 240
# forbid: LEAK GROWING

import torch
from torch import nn


def train(epochs=6, steps=40):
    net = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 100)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    outputs = []

    for epoch in range(epochs):
        for _ in range(steps):
            x = torch.randn(512, 128, device="cuda")
            y = torch.randint(0, 100, (512,), device="cuda")
            opt.zero_grad()
            scores = net(x)
            nn.functional.cross_entropy(scores, y).backward()
            opt.step()
            outputs.append(scores.detach().softmax(1))  # <- SAWTOOTH period=40 freed_by=program
        confidence = torch.cat(outputs).max(1).values.mean()
        outputs.clear()
        print(f"epoch {epoch}: mean confidence {confidence.item():.3f}")


train()
