"""One small training for each verdict: docs/verdicts.md shows what gpuleak says of it.

gpuleak run --sim -- python docs/examples/verdicts.py leak
"""

import random
import sys
from collections import deque
from copy import deepcopy

import torch
from torch import nn


def batch(rows=1024):
    return torch.randn(rows, 256, device="cuda")


def nothing(step, out, net):
    pass


def train(steps, each_step=nothing, rows=lambda step: 1024, optimizer=torch.optim.SGD):
    net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
    opt = optimizer(net.parameters(), lr=1e-3)
    for step in range(steps):
        out = net(batch(rows(step)))
        opt.zero_grad()
        out.pow(2).mean().backward()
        opt.step()
        each_step(step, out, net)


def leak():
    outputs = []
    train(100, lambda step, out, net: outputs.append(out))


def growing():
    best = []

    def evaluate(step, out, net):
        if step % 25 == 24:
            best.append(batch())

    train(110, evaluate)


def jump():
    copies = []

    def average(step, out, net):
        if step == 30:
            copies.append(deepcopy(net))

    train(100, average, optimizer=torch.optim.AdamW)


def plateau():
    memory = deque(maxlen=40)
    train(100, lambda step, out, net: memory.append(batch()))


def sawtooth():
    seen = []

    def update(step, out, net):
        if step % 20 == 0:
            seen.clear()
        seen.append(batch())

    train(100, update)


def noisy():
    random.seed(1)
    train(100, rows=lambda step: random.randrange(2048, 8192))


def workload():
    train(100, rows=lambda step: 1024 + 64 * step)


def fragmentation():
    def two_buffers(step, out, net):
        border = 22 + 2 * step
        return [torch.empty(mib << 20, dtype=torch.uint8, device="cuda") for mib in (400 - border, border)]

    train(60, two_buffers)


def host():
    log = []
    train(100, lambda step, out, net: log.append(torch.zeros(1 << 20).pin_memory()))


def stable():
    train(100)


def short():
    train(10)


globals()[sys.argv[1]]()
