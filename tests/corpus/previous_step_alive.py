"""previous-step-alive (lightning#9343): outputs and graph of step n live until those of step n +
1 replace them.
"""

# expect: STABLE
# exit: 0
# steps: 150
# forbid: LEAK GROWING JUMP WORKLOAD

import torch
from torch import nn


def train(steps=150):
    net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    results = {}

    for _ in range(steps):
        x = torch.randn(512, 256, device="cuda")
        outputs = net(x)
        loss = nn.functional.mse_loss(outputs, x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        results["outputs"], results["loss"] = outputs, loss

    print(f"loss {results['loss'].item():.4f}")


train()
