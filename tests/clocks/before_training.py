"""A network is built, warmed up and differentiated before the first optimizer step; see identical.py."""

import ctypes

import torch
from torch import nn

mark = getattr(ctypes.CDLL(None), "gpuleak_mark", lambda name: None)
torch.manual_seed(0)
layers = [part for _ in range(8) for part in (nn.Linear(16, 16), nn.ReLU())]
net = nn.Sequential(nn.Linear(8, 16), *layers).cuda()
kept = []
with torch.no_grad():
    for turn in range(60):
        y = net(torch.randn(4, 8).cuda())
        if turn % 3 == 0:
            kept.append(y)
del kept[::2]
mark(b"warm")
opt = torch.optim.Adam(net.parameters())
for turn in range(90):
    loss = net(torch.randn(4, 8).cuda()).pow(2).mean()
    loss.backward()
    if turn % 4 == 3:
        if turn > 30:
            opt.step()
            kept.append(loss)
        opt.zero_grad()
with torch.no_grad():
    for _ in range(30):
        net(torch.randn(4, 8).cuda())
