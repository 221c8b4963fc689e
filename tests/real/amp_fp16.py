"""fp16 with autocast, GradScaler and clipping of unscaled gradients, on a convolution."""

# expect: clean
# steps: 40

import torch
from torch import nn


def main():
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
    ).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scaler = torch.cuda.amp.GradScaler()

    for step in range(40):
        x = torch.randn(8, 3, 32, 32, device="cuda")
        y = torch.randint(0, 10, (8,), device="cuda")
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}, scale {scaler.get_scale():.0f}")


main()
