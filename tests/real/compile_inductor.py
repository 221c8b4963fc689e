"""torch.compile with inductor: kernels are generated and compiled by Triton."""

# needs: triton
# expect: clean
# steps: 40

import torch
from torch import nn


def main():
    net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    compiled = torch.compile(net)

    for step in range(40):
        x, y = torch.randn(32, 64, device="cuda"), torch.randint(0, 10, (32,), device="cuda")
        loss = nn.functional.cross_entropy(compiled(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
