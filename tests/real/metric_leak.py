"""A torchmetrics metric that keeps every score and is never reset."""

# needs: torchmetrics
# expect: LEAK
# exit: 1
# steps: 60

import torch
from torch import nn
from torchmetrics.classification import BinaryAUROC


def main():
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    metric = BinaryAUROC(thresholds=None).cuda()

    for _ in range(60):
        x = torch.randn(64, 64, device="cuda")
        y = torch.randint(0, 2, (64,), device="cuda")  # <- LEAK
        scores = net(x).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, y.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        metric.update(scores.detach().sigmoid(), y)  # <- LEAK

    print(metric.compute().item())


main()
