"""metric-per-epoch (geo-deep-learning#582): each evaluation adds its predictions to a list that
nobody clears.

Four batches every 25 steps, twelve evaluations.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 83886.08

import torch
from torch import nn


def evaluate(net, predictions):
    net.eval()
    with torch.no_grad():
        for _ in range(4):
            scores = net(torch.randn(64, 3, 32, 32, device="cuda"))
            predictions.append(scores.argmax(1))  # <- LEAK rate=83886.08 period=25
    net.train()


def train(epochs=12, steps=25):
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 5, 3, padding=1)
    ).cuda()
    opt = torch.optim.Adam(net.parameters())
    predictions = []

    for epoch in range(epochs):
        for _ in range(steps):
            x = torch.randn(8, 3, 32, 32, device="cuda")
            y = torch.randint(0, 5, (8, 32, 32), device="cuda")
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
        evaluate(net, predictions)

    print(f"loss {loss.item():.4f}, {len(predictions)} predictions")


train()
