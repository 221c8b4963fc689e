"""A network is built, warmed up and differentiated before the first optimizer step; see identical.py.

    before_training.py TURNS BACKWARDS: turns of inference, backward passes before the first step
"""

import ctypes
import sys

import torch
from torch import nn

turns, backwards = map(int, sys.argv[1:])
mark = getattr(ctypes.CDLL(None), "gpuleak_mark", lambda name: None)
torch.manual_seed(0)
layers = [part for _ in range(8) for part in (nn.Linear(16, 16), nn.ReLU())]
net = nn.Sequential(nn.Linear(8, 16), *layers).cuda()
kept = []
with torch.no_grad():
    for turn in range(turns):
        x = torch.randn(40 + turn, 8).cuda()
        y = net(x)
        if turn % 3 == 0:
            kept.append(y)
del kept[::2]
mark(b"warm")
opt = torch.optim.Adam(net.parameters())
for turn in range(backwards + 60):
    x = torch.randn(40 + 20 * turn, 8).cuda()
    loss = net(x).pow(2).mean()
    loss.backward()
    if turn % 4 == 3:
        if turn >= backwards:
            opt.step()
            kept.append(loss)
        opt.zero_grad()
with torch.no_grad():
    for _ in range(30):
        net(torch.randn(4, 8).cuda())
