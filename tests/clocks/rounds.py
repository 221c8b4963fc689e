"""Leaks in rounds that are no steps: once an evaluation, a trial, a caught exception.

Of two rounds each is a jump, from three even ones on they are GROWING, from six on LEAK (of uneven
ones from ten on), and they are named by their period.
"""

import torch
from torch import nn

import rows

EVERY = 25
UNEVEN = [9, 31, 14, 40, 11, 25, 17, 38, 10, 29, 13, 35]
kept = []


def network():
    return nn.Sequential(nn.Linear(64, 2048), nn.ReLU(), nn.Linear(2048, 64)).cuda()


def train(net, steps, after=None):
    """after(net, step) behind each step."""
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for step in range(1, steps + 1):
        opt.zero_grad()
        net(torch.randn(16, 64, device="cuda")).pow(2).mean().backward()
        opt.step()
        if after:
            after(net, step)
    return opt


@torch.no_grad()
def evaluate(net):
    kept.append(net(torch.randn(8192, 64, device="cuda")))


def fail(net):
    """The exception keeps its traceback, that its frames, and these the outputs."""
    try:
        outputs = net(torch.randn(8192, 64, device="cuda"))
        outputs @ outputs
    except RuntimeError as error:
        kept.append(error)


def add(name, steps, what, verdict, period=None):
    what.__name__ = name
    named = {"period": period} if period else {}
    rows.row(steps=steps, device=verdict, **named)(what)


def in_rounds(once, ends):
    def run():
        train(network(), ends[-1] + 8, lambda net, step: step in ends and once(net))

    return run


def trials(count):
    def run():
        for _ in range(count):
            net = network()
            kept.append((net, train(net, EVERY)))

    return run


for rounds, verdict in ((2, "JUMP"), (3, "GROWING"), (5, "GROWING"), (6, "LEAK")):
    ends = [EVERY * n for n in range(1, rounds + 1)]
    period = None if verdict == "JUMP" else EVERY
    add(f"evaluations_{rounds}", ends[-1] + 8, in_rounds(evaluate, ends), verdict, period)
    add(f"exceptions_{rounds}", ends[-1] + 8, in_rounds(fail, ends), verdict, period)
    add(f"trials_{rounds}", EVERY * rounds, trials(rounds), verdict, period)

for rounds, verdict in ((9, "GROWING"), (12, "LEAK")):
    ends = [sum(UNEVEN[:n]) for n in range(1, rounds + 1)]
    add(f"uneven_evaluations_{rounds}", ends[-1] + 8, in_rounds(evaluate, ends), verdict)

rows.main()
