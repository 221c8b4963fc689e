"""checkpoint-resume (nanoGPT#158): the loaded checkpoint stays in a global, so its tensors are
there for the whole run: the weights were copied into the model and lie there twice. What the
optimizer took over from it is in use.
"""

# expect: JUMP
# exit: 0
# steps: 100
# forbid: LEAK GROWING

import os
import tempfile

import torch
from torch import nn


def build():
    net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    return net, torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)


def train(net, opt, start, steps=100):
    for step in range(start, start + steps):
        x = torch.randn(64, 256, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()
    print(f"step {step}: loss {loss.item():.4f}")


with tempfile.TemporaryDirectory() as folder:
    net, opt = build()
    for parameter in net.parameters():
        opt.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
    path = os.path.join(folder, "last.pt")
    torch.save({"model": net.state_dict(), "opt": opt.state_dict(), "step": 1000}, path)
    del net, opt, parameter
    checkpoint = torch.load(path, map_location="cuda")  # <- JUMP size=1.0 first=0 occasion=checkpoint

net, opt = build()
net.load_state_dict(checkpoint["model"])
opt.load_state_dict(checkpoint["opt"])
train(net, opt, checkpoint["step"])
