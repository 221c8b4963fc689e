"""Blocks that one thread makes and another frees, on a side stream, with record_stream()
delaying the free.

The loader works on request, so that nothing is allocated at the moment a step ends.
"""

import queue
import threading

import torch
from torch import nn


def load(requests, batches):
    stream = torch.cuda.Stream()
    while (rows := requests.get()) is not None:
        with torch.cuda.stream(stream):
            batches.put(torch.randn(rows, 256, device="cuda"))


net = nn.Linear(256, 256).cuda()
opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
requests, batches = queue.Queue(), queue.Queue()
loader = threading.Thread(target=load, args=(requests, batches))
loader.start()
for step in range(100):
    requests.put(64 + 50 * (step % 5))
    x = batches.get()
    x.record_stream(torch.cuda.current_stream())
    opt.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
requests.put(None)
loader.join()
print(f"loss {loss.item():.4f}")
