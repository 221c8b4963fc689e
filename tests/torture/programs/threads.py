"""Threads allocate, free each other's tensors and run backward passes, while steps go on."""

# marks: 15

import queue
import threading

import torch
from tiny import Training

handed = queue.Queue(50)


def make(number):
    torch.cuda.set_device(0)
    for i in range(300):
        handed.put(torch.empty(100 * (i % 7) + number, device="cuda"))
    x = torch.ones(100, device="cuda", requires_grad=True)
    for _ in range(20):
        (x * 2).sum().backward()
    handed.put(None)


makers = [threading.Thread(target=make, args=(n,)) for n in (1, 2, 3)]
for maker in makers:
    maker.start()
training, ended = Training(), 0
while ended < 3:
    ended += handed.get() is None
for maker in makers:
    maker.join()
training.run(15)
print("all joined")
