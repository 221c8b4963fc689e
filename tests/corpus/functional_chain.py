"""functional-chain (functorch#639): an inner loop makes new weights from the old ones and never
cuts their graph.

`fast = [p - lr * g ...]` with create_graph=True: step n's weights hang on those of step n - 1,
back to the first.
"""

# expect: LEAK
# exit: 1
# steps: 80
# rate: 92672

import torch
from torch import nn


def forward(weights, x):
    return torch.tanh(x @ weights[0]) @ weights[1]  # <- LEAK rate=34816


def train(steps=80):
    meta = nn.ParameterList(
        [nn.Parameter(torch.randn(64, 128) * 0.1), nn.Parameter(torch.randn(128, 8) * 0.1)]
    ).cuda()
    opt = torch.optim.SGD(meta.parameters(), lr=1e-3)
    fast = list(meta)

    for _ in range(steps):
        x, y = torch.randn(64, 64, device="cuda"), torch.randn(64, 8, device="cuda")  # <- LEAK rate=18432
        loss = nn.functional.mse_loss(forward(fast, x), y)
        grads = torch.autograd.grad(loss, fast, create_graph=True)  # <- LEAK thread rate=35328
        fast = [w - 0.01 * g for w, g in zip(fast, grads)]  # <- LEAK rate=4096

        opt.zero_grad()
        nn.functional.mse_loss(forward(meta, x), y).backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
