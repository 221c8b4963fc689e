"""torchvision's ResNet-18 on images, with SGD and a schedule."""

# expect: clean
# steps: 30

import torch
import torchvision
from torch import nn


def main():
    net = torchvision.models.resnet18(num_classes=10).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 30)

    for step in range(30):
        images = torch.randn(8, 3, 64, 64, device="cuda")
        labels = torch.randint(0, 10, (8,), device="cuda")
        loss = nn.functional.cross_entropy(net(images), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
