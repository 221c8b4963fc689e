"""workspace (pytorch#95668): the first matrix product on the main thread and on autograd's makes
a workspace.

PyTorch 2.15.0 frees it within the call; older versions keep it, once per thread and stream.
"""

# expect: STABLE
# exit: 0
# steps: 100
# forbid: LEAK GROWING

import torch


def train(steps=100):
    weight = torch.randn(256, 256, device="cuda", requires_grad=True)
    opt = torch.optim.SGD([weight], lr=1e-3)

    for step in range(steps):
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = ((x @ weight if step >= 30 else x * weight[0]) - x).pow(2).mean()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


train()
