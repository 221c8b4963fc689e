"""Exceptions through allocations: from Python through autograd's C++ and back, in every hook."""

import torch
from tiny import Training


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = torch.empty(1000, device="cuda")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        torch.empty(2000, device="cuda")
        raise ValueError("in a backward pass")


def hook(grad):
    torch.empty(3000, device="cuda")
    raise KeyError("in a hook")


def in_dispatch():
    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            func(*args, **(kwargs or {}))
            raise OSError("in a dispatch mode")

    with Mode():
        torch.empty(4000, device="cuda")


def in_backward():
    x = torch.ones(10, device="cuda", requires_grad=True)
    Failing.apply(x).sum().backward()


def in_hook():
    x = torch.ones(10, device="cuda", requires_grad=True)
    y = x * 3
    y.register_hook(hook)
    y.sum().backward()


def in_shape():
    torch.empty(5000, device="cuda") @ torch.empty(6000, device="cuda")


training = Training()
for turn in range(12):
    for attempt in (in_backward, in_hook, in_dispatch, in_shape):
        try:
            attempt()
        except Exception as error:
            print(turn, type(error).__name__, str(error).splitlines()[0])
    training.turn()
print(torch.cuda.memory_allocated())
