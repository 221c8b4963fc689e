"""A torch.optim that isn't like any we know: its steps aren't counted, which is said, and backward
passes are; all else works."""

import torch
from torch import nn
from torch.optim import optimizer as optim

import rows
from rows import row

GONE = "AttributeError: module 'torch.optim.optimizer' has no attribute 'register_optimizer_step_%s_hook'"
WANTED = {"steps": 40, "clock": "backward", "device": "LEAK", "python_stacks_off": None}


def train(steps=40):
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)).cuda()
    opt = torch.optim.Adam(net.parameters())
    losses = []
    for _ in range(steps):
        loss = net(torch.randn(4, 8, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss)


def refuse(*_args):
    raise RuntimeError("hooks are of yesterday")


@row(optimizer_steps_off=GONE % "pre", **WANTED)
def no_hooks():
    del optim.register_optimizer_step_pre_hook, optim.register_optimizer_step_post_hook
    train()


@row(optimizer_steps_off=GONE % "post", **WANTED)
def no_post_hook():
    del optim.register_optimizer_step_post_hook
    train()


@row(optimizer_steps_off="RuntimeError: hooks are of yesterday", **WANTED)
def pre_hook_raises():
    optim.register_optimizer_step_pre_hook = refuse
    train()


@row(optimizer_steps_off="RuntimeError: hooks are of yesterday", **WANTED)
def post_hook_raises():
    """The other one has been registered by then, and can't be taken back."""
    real = optim.register_optimizer_step_pre_hook
    optim.register_optimizer_step_pre_hook = lambda hook: real(hook) and None
    optim.register_optimizer_step_post_hook = refuse
    train()


@row(optimizer_steps_off=None, **{**WANTED, "clock": "optimizer"})
def as_ever():
    train()


rows.main()
