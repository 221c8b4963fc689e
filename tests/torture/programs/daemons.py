"""Daemon threads hold GPU memory and are taken down with the interpreter while they wait."""

# marks: 10

import threading

import torch
from tiny import Training

started = threading.Barrier(4)


def allocate(size):
    kept = [torch.empty(size, device="cuda") for _ in range(20)]
    started.wait()
    threading.Event().wait()  # not within PyTorch: it would abort, with or without us
    kept.clear()


training = Training()
for size in (100, 1000, 10_000):
    threading.Thread(target=allocate, args=(size,), daemon=True).start()
started.wait()
training.run(10)
print("main ends")
