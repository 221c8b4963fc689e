"""Training loops run, learn nothing, and use the same memory in every step."""
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from check import expect, expect_equal, result


def train(model: nn.Module, data: torch.Tensor, classes: int = 0, steps: int = 8, **options) -> None:
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), **options)
    target = torch.randint(0, classes, (len(data),), device="cuda") if classes else None
    allocated = []
    for _ in range(steps):
        optimizer.zero_grad()
        output = model(data)
        output = output[0] if isinstance(output, tuple) else output
        loss = output.float().sum() if target is None else F.cross_entropy(output.float(), target)
        loss.backward()
        optimizer.step()
        allocated.append(torch.cuda.memory_allocated())
    expect_equal(len(set(allocated[2:])), 1, f"{type(model).__name__}: levels of memory")
    expect_equal(loss.item(), 0.0, "loss")


def convolutions() -> None:
    for kind, dimensions in ((nn.Conv1d, 1), (nn.Conv2d, 2), (nn.Conv3d, 3),
                             (nn.ConvTranspose2d, 2)):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            layer = kind(4, 8, 3, groups=2, padding=1).to(dtype=dtype)
            data = torch.randn(2, 4, *(9,) * dimensions, device="cuda", dtype=dtype)
            train(layer, data, steps=4)
    layer = nn.Conv2d(8, 16, 3, stride=2).cuda().to(memory_format=torch.channels_last)
    data = torch.randn(2, 8, 17, 17, device="cuda", requires_grad=True)
    output = layer(data.to(memory_format=torch.channels_last))
    expect_equal(tuple(output.shape), (2, 16, 8, 8))
    output.sum().backward()
    expect_equal(tuple(data.grad.shape), (2, 8, 17, 17))
    expect_equal(tuple(layer.weight.grad.shape), (16, 8, 3, 3))


def mixed_precision() -> None:
    model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for _ in range(4):
        with torch.autocast("cuda"):
            loss = model(torch.randn(8, 32, device="cuda")).sum()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    expect(len(optimizer.state) == 4, "GradScaler let the optimizer step")


warnings.filterwarnings("error", message="Attempt to open cnn_infer failed")
expect(torch.backends.cudnn.is_available() and torch.backends.cudnn.enabled)
train(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)),
      torch.randn(32, 64, device="cuda"), 10)
train(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                    nn.Flatten(), nn.Linear(8, 10)), torch.randn(4, 3, 32, 32, device="cuda"), 10)
train(nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2),
      torch.randn(4, 16, 64, device="cuda"))
convolutions()
torch.backends.cudnn.benchmark = True
convolutions()
mixed_precision()
F.ctc_loss(torch.randn(50, 4, 20, device="cuda", requires_grad=True).log_softmax(2),
           torch.randint(1, 20, (4, 10), device="cuda"), torch.full((4,), 50, device="cuda"),
           torch.full((4,), 10, device="cuda")).backward()
sys.exit(result())
