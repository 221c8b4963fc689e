"""adapter-swap (peft#1639): at each swap the old adapter is put on a list of previous ones."""

# expect: LEAK
# exit: 1
# steps: 240
# rate: 1638.4

import torch
from torch import nn


def new_adapter():
    return nn.ParameterList(
        [
            nn.Parameter(torch.randn(256, 8, device="cuda") * 0.01),  # <- LEAK rate=409.6 period=20
            nn.Parameter(torch.zeros(8, 256, device="cuda")),  # <- LEAK rate=409.6 period=20
        ]
    )


def train(swaps=12, steps=20):
    base = nn.Linear(256, 256).cuda().requires_grad_(False)
    previous = []

    for _ in range(swaps):
        adapter = new_adapter()
        opt = torch.optim.SGD(adapter.parameters(), lr=1e-2)
        for _ in range(steps):
            x = torch.randn(64, 256, device="cuda")
            loss = nn.functional.mse_loss(base(x) + x @ adapter[0] @ adapter[1], x)
            opt.zero_grad()
            loss.backward()  # <- LEAK thread rate=819.2 period=20
            opt.step()
        previous.append(adapter)

    print(f"loss {loss.item():.4f}, {len(previous)} adapters")


train()
