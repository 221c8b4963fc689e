"""workspace-kept (pytorch#95668): the first matrix product on the main thread and on autograd's
makes a workspace that stays, once per thread and stream: always before 2.15, there with a setting.
"""

# expect: JUMP
# exit: 0
# steps: 100
# forbid: LEAK GROWING

import os

os.environ["TORCH_CUBLAS_WORKSPACE_CACHE"] = "1"

import torch


def train(steps=100):
    weight = torch.randn(256, 256, device="cuda", requires_grad=True)
    opt = torch.optim.SGD([weight], lr=1e-3)

    for step in range(steps):
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        y = x @ weight if step >= 30 else x * weight[0]  # <- JUMP kind=workspace occasion=cuBLAS
        (y - x).pow(2).mean().backward()  # <- JUMP kind=workspace first=31 occasion=cuBLAS
        opt.step()


train()
