"""A torchvision detection model's training step: the model itself gives its losses."""

# expect: clean
# steps: 30

import torch
import torchvision


def target():
    corner = torch.rand(3, 2) * 40
    boxes = torch.cat([corner, corner + 8 + torch.rand(3, 2) * 20], dim=1)
    return {"boxes": boxes.cuda(), "labels": torch.randint(1, 5, (3,)).cuda()}


def main():
    net = torchvision.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=5, min_size=96, max_size=96
    )
    net.cuda().train()
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    for step in range(30):
        images = [torch.rand(3, 96, 96).cuda() for _ in range(2)]
        losses = net(images, [target(), target()])
        loss = sum(losses.values())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: {', '.join(losses)}: {loss.item():.4f}")


main()
