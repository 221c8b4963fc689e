"""Batches of changing size with expandable segments, as PyTorch's advice against fragmentation says."""

# expect: clean
# steps: 40

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch  # noqa: E402
from torch import nn  # noqa: E402


def main():
    net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)

    for step in range(40):
        x = torch.randn(512 * (1 + step * 7 % 5), 256, device="cuda")
        loss = nn.functional.mse_loss(net(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            torch.cuda.empty_cache()
            print(f"step {step + 1}: loss {loss.item():.4f}")

    assert any(segment.get("is_expandable") for segment in torch.cuda.memory_snapshot())


main()
