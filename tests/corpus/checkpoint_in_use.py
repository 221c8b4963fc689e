"""checkpoint-in-use: what was loaded is what the training works with, or is gone: weights taken over
as they are, a whole model that others were copied from, an optimizer's state, a checkpoint dropped.
"""

# expect: STABLE
# exit: 0
# steps: 60
# forbid: LEAK GROWING JUMP

import copy
import os
import tempfile

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256))


def assigned(path):
    """The parameters are the loaded tensors, and the dict that has them is kept, too."""
    net, weights = build(), torch.load(path, map_location="cuda")
    net.load_state_dict(weights, assign=True)
    return net, weights, copy.deepcopy(net)


def loaded_whole(path):
    """A copy is made from parameters that were loaded."""
    net, twin = torch.load(path, map_location="cuda", weights_only=False), build().cuda()
    twin.load_state_dict(net.state_dict())
    return net, twin


def taught(path):
    """The loaded model isn't trained, but used, and a copy of it learns."""
    teacher = torch.load(path, map_location="cuda", weights_only=False)
    return copy.deepcopy(teacher), teacher


def dropped(path):
    net, weights = build().cuda(), torch.load(path, map_location="cuda")
    net.load_state_dict(weights)
    return net, torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)


def save(path, what):
    torch.save(what, path)
    return path


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "last.pt")
    a, weights, shadow = assigned(save(path, build().state_dict()))
    b, twin = loaded_whole(save(path, build().cuda()))
    student, teacher = taught(save(path, build().cuda()))
    c, opt = dropped(save(path, build().state_dict()))
    state = {i: {"momentum_buffer": torch.zeros_like(p)} for i, p in enumerate(c.parameters())}
    save(path, {"state": state, "param_groups": opt.state_dict()["param_groups"]})
    del state
    opt.load_state_dict(torch.load(path, map_location="cuda"))

others = [parameter for net in (a, b, twin, student) for parameter in net.parameters()]
opt.add_param_group({"params": others, "momentum": 0})
for step in range(60):
    x = torch.randn(64, 256, device="cuda")
    opt.zero_grad(set_to_none=False)
    loss = sum(nn.functional.mse_loss(net(x), x) for net in (a, b, c, twin))
    loss = loss + nn.functional.mse_loss(student(x), teacher(x).detach())
    loss.backward()
    opt.step()
print(f"loss {loss.item():.4f}")
