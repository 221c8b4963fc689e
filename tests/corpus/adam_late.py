"""adam-late (Megatron-LM#637): the scaler finds overflows and skips the first ten opt.step()
calls.

The state of Adam appears in the eleventh turn of the loop, which is the first step that the
optimizer makes.
"""

# expect: JUMP
# exit: 0
# steps: 50
# forbid: LEAK GROWING

import torch
from torch import nn


class LossScaler:
    """Skips a step when the gradients overflow; here it knows that the first ten will."""

    def __init__(self, overflows=10):
        self.scale, self.overflows = 2.0 ** (16 + overflows), overflows

    def step(self, opt):
        if self.overflows > 0:
            self.overflows -= 1
            self.scale /= 2
            return
        opt.step()  # <- JUMP kind=optimizer-state size=2.0 first=1


def train(turns=60):
    net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    scaler = LossScaler()

    for _ in range(turns):
        x = torch.randn(64, 512, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        (loss * scaler.scale).backward()
        scaler.step(opt)

    print(f"loss {loss.item():.4f}, scale {scaler.scale}")


train()
