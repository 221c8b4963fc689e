"""What is computed again under checkpointing is kept: by a module of the program's own, which has its
line, and out of PyTorch's modules alone, which has that of backward().
"""

# expect: LEAK
# exit: 1
# steps: 60

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

kept = []


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(128, 512), nn.Linear(512, 128)

    def forward(self, x):
        hidden = torch.relu(self.up(x))  # <- LEAK rate=65536
        if torch.is_grad_enabled():  # only when it is computed again
            kept.append(hidden.detach())
        return self.down(hidden)


def keep(module, inputs, output):
    if torch.is_grad_enabled():
        kept.append(output.detach())


def main():
    own = Block().cuda()
    plain = nn.Sequential(nn.Linear(128, 256), nn.Linear(256, 128)).cuda()
    plain[0].register_forward_hook(keep)
    opt = torch.optim.SGD([*own.parameters(), *plain.parameters()], lr=1e-3)

    for _ in range(60):
        x = torch.randn(32, 128, device="cuda", requires_grad=True)
        y = checkpoint(own, x, use_reentrant=True)
        loss = checkpoint(plain, y, use_reentrant=True).square().mean()
        opt.zero_grad()
        loss.backward()  # <- LEAK rate=32768
        opt.step()


main()
