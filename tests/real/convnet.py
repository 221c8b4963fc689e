"""Convolutions of one, two and three dimensions, grouped and transposed, tried out by cuDNN."""

# expect: clean
# steps: 30

import torch
from torch import nn


def block(kind, **options):
    return nn.Sequential(kind(4, 8, 3, padding=1, groups=2, **options), nn.ReLU())


def main():
    torch.backends.cudnn.benchmark = True
    nets = [
        (nn.Sequential(block(nn.Conv1d), nn.BatchNorm1d(8)), (32,)),
        (nn.Sequential(block(nn.Conv2d, stride=2), nn.BatchNorm2d(8)), (16, 16)),
        (nn.Sequential(block(nn.ConvTranspose2d), nn.GroupNorm(2, 8)), (16, 16)),
        (nn.Sequential(block(nn.Conv3d), nn.BatchNorm3d(8)), (8, 8, 8)),
    ]
    parameters = [p for net, _ in nets for p in net.cuda().parameters()]
    opt = torch.optim.SGD(parameters, lr=1e-2, momentum=0.9)

    for step in range(30):
        loss = sum(net(torch.randn(4, 4, *size, device="cuda")).pow(2).mean() for net, size in nets)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
