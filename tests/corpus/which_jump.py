"""which-jump: what happens once in a training, one thing after the other, and the report says which
it is: the first optimizer step and backward pass, averaged weights, the best weights so far, a
checkpoint that is loaded, the first validation, unfreezing.
"""

# expect: JUMP
# exit: 0
# steps: 240
# forbid: LEAK GROWING

import copy
import os
import tempfile

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


def validate(net, examples):
    with torch.no_grad():
        example = torch.randn(4096, 128, device="cuda")  # <- JUMP occasion=first-validation
        examples.append(example)
        return net(example[:64]).mean().item()


def save_and_load(net):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pt")
        torch.save(net.state_dict(), path)
        return torch.load(path, map_location="cuda")  # <- JUMP first=122 occasion=checkpoint


def train(steps=240):
    backbone = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 128)).cuda()
    net = nn.Sequential(backbone.requires_grad_(False), nn.Linear(128, 1024).cuda())
    opt = torch.optim.Adam(net[1].parameters())
    kept, examples = [], []

    for step in range(steps):
        x, y = torch.randn(64, 128, device="cuda"), torch.randn(64, 1024, device="cuda")
        opt.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()  # <- JUMP kind=gradient first=182 occasion=parameters-that-joined
        if step == 180:
            backbone.requires_grad_(True)
            opt.add_param_group({"params": backbone.parameters()})
        opt.step()  # <- JUMP first=1 occasion=first-optimizer-step
        if step == 30:
            kept.append(AveragedModel(net))  # <- JUMP occasion=averaged-weights
        if step == 60:
            kept.append(copy.deepcopy(net.state_dict()))  # <- JUMP occasion=a-copy-of-the-model
        if step == 90:
            weights = net.state_dict().items()
            kept.append({name: w.clone() for name, w in weights})  # <- JUMP occasion=many-blocks
        if step == 120:
            kept.append(save_and_load(net))
        if step >= 150 and step % 10 == 0:
            validate(net, examples) if not examples else None

    print(f"loss {loss.item():.4f}, {len(kept)} kept")


train()
