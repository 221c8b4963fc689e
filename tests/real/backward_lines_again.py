"""Checkpointing, reentrant and not, below two lines that call backward(): what modules of PyTorch
keep of what is computed again is put down to the line whose backward pass it was; and graphs that
are kept for a second backward pass, to the lines of their forward.
"""

# expect: LEAK
# exit: 1
# steps: 60

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

kept = []


def keep(module, inputs, output):
    if torch.is_grad_enabled() and torch._C._current_graph_task_id() != -1:
        kept.append(output.detach())


def reentrant(net, x):
    loss = checkpoint(net, x, use_reentrant=True).square().mean()
    loss.backward()  # <- LEAK rate=32768


def not_reentrant(net, x):
    loss = checkpoint(net, x, use_reentrant=False).square().mean()
    loss.backward()  # <- LEAK rate=16384


def twice(net, x):
    loss = net(x).square().mean()
    loss.backward(retain_graph=True)
    loss.backward()


def held(net, x):
    loss = net(x).square().mean()  # <- LEAK
    loss.backward(retain_graph=True)
    kept.append(loss)


def main():
    wide = nn.Sequential(nn.Linear(128, 256), nn.Linear(256, 128)).cuda()
    narrow = nn.Sequential(nn.Linear(128, 128), nn.Linear(128, 128)).cuda()
    plain = nn.Sequential(nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 8)).cuda()
    wide[0].register_forward_hook(keep)
    narrow[0].register_forward_hook(keep)
    nets = [*wide.parameters(), *narrow.parameters(), *plain.parameters()]
    opt = torch.optim.SGD(nets, lr=1e-3)

    for _ in range(60):
        x = torch.randn(32, 128, device="cuda", requires_grad=True)  # <- LEAK rate=16384
        opt.zero_grad()
        reentrant(wide, x)
        not_reentrant(narrow, x)
        twice(plain, x)
        held(plain, x.detach())
        opt.step()


main()
