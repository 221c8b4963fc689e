"""hook-closure (pytorch#46386): a hook that closes over its model makes a cycle of every model
in a search.
"""

# expect: SAWTOOTH
# exit: 0
# steps: 300
# forbid: LEAK GROWING

import gc

import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256))
        self.norm = 0.0
        self.body.register_forward_hook(lambda module, inputs, output: self.note(output))

    def note(self, output):
        self.norm = output.detach().norm()

    def forward(self, x):
        return self.body(x)


def fit(steps=10):
    net = Probe().cuda()  # <- SAWTOOTH period=50 freed_by=gc
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    for _ in range(steps):
        x = torch.randn(32, 256, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()
    return loss.item()


gc.disable()
for trial in range(30):
    loss = fit()
    if trial % 5 == 4:
        gc.collect()
        print(f"trial {trial}: loss {loss:.4f}")
