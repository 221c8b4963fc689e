"""gradual-unfreeze (own, as ULMFiT does): one more layer is unfrozen each 25 steps, up to the run's end.

Its gradients stay, and the optimizer makes its state: both come in round after round. There is no
more of either than the parameters need.
"""

# expect: JUMP
# exit: 0
# steps: 310
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=310, each=25):
    layers = nn.ModuleList(nn.Linear(256, 256) for _ in range(13)).cuda().requires_grad_(False)
    layers[-1].requires_grad_(True)
    opt = torch.optim.Adam(layers[-1].parameters())

    for step in range(steps):
        if step and step % each == 0:
            layer = layers[len(layers) - 1 - step // each].requires_grad_(True)
            opt.add_param_group({"params": list(layer.parameters())})
        x = torch.randn(16, 256, device="cuda")
        for layer in layers:
            x = layer(x).relu()
        loss = x.square().mean()
        opt.zero_grad(set_to_none=False)
        loss.backward()  # <- JUMP kind=gradient first=26
        opt.step()  # <- JUMP kind=optimizer-state first=1 size=2.0

    print(f"loss {loss.item():.4f}")


train()
