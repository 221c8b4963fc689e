"""eval-hook-stash (opacus#176): a forward hook stores activations that a backward hook takes
away again.

Evaluation runs forward alone, so whatever the hook stored there stays: once per evaluation,
every 25 steps.
"""

# expect: LEAK
# exit: 1
# steps: 300
# rate: 10485.76

import torch
from torch import nn


class ActivationStash:
    def __init__(self, layer):
        self.activations = []
        layer.register_forward_hook(self.store)
        layer.register_full_backward_hook(self.take)

    def store(self, layer, inputs, output):
        self.activations.append(inputs[0].detach().half())  # <- LEAK rate=10485.76 period=25

    def take(self, layer, grad_input, grad_output):
        self.activations.pop()


def train(steps=300, every=25):
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    stash = ActivationStash(net[2])

    for step in range(steps):
        x, y = torch.randn(128, 64, device="cuda"), torch.randn(128, 8, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        if step % every == every // 2:
            with torch.no_grad():
                net(torch.randn(512, 64, device="cuda"))

    print(f"loss {loss.item():.4f}, stashed {len(stash.activations)}")


train()
