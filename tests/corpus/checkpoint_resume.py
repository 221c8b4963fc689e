"""checkpoint-resume (nanoGPT#158): the loaded checkpoint stays in a global, so its tensors are
there for the whole run.
"""

# expect: JUMP|STABLE
# exit: 0
# steps: 100
# forbid: LEAK GROWING

import os
import tempfile

import torch
from torch import nn


def build():
    net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    return net, torch.optim.SGD(net.parameters(), lr=1e-2)


with tempfile.TemporaryDirectory() as folder:
    net, opt = build()
    torch.save({"model": net.state_dict(), "step": 1000}, os.path.join(folder, "last.pt"))
    del net, opt
    checkpoint = torch.load(os.path.join(folder, "last.pt"), map_location="cuda")

net, opt = build()
net.load_state_dict(checkpoint["model"])
for step in range(checkpoint["step"], checkpoint["step"] + 100):
    x = torch.randn(64, 256, device="cuda")
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), x)
    loss.backward()
    opt.step()
print(f"step {step}: loss {loss.item():.4f}")
