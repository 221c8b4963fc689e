"""torchmetrics: a collection reset each epoch, some of it with a state of fixed size."""

# needs: torchmetrics
# expect: clean
# steps: 60

import torch
from torch import nn
from torchmetrics import MeanMetric, MetricCollection
from torchmetrics.classification import (
    MulticlassAccuracy,
    MulticlassAUROC,
    MulticlassConfusionMatrix,
    MulticlassF1Score,
)


def main():
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    metrics = MetricCollection(
        [
            MulticlassAccuracy(10),
            MulticlassF1Score(10),
            MulticlassConfusionMatrix(10),
            MulticlassAUROC(10, thresholds=50),
        ]
    ).cuda()
    mean = MeanMetric().cuda()

    for epoch in range(3):
        for _ in range(20):
            x, y = torch.randn(32, 64, device="cuda"), torch.randint(0, 10, (32,), device="cuda")
            scores = net(x)
            loss = nn.functional.cross_entropy(scores, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            metrics.update(scores.detach().softmax(-1), y)
            mean.update(loss.detach())
        print(epoch + 1, mean.compute().item(), sorted(metrics.compute()))
        metrics.reset()
        mean.reset()


main()
