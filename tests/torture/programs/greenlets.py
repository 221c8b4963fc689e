"""Greenlets: stacks that change under the interpreter's feet."""

# needs: greenlet

import greenlet
import torch
from tiny import Training


def worker(depth, count):
    if depth:
        return worker(depth - 1, count)
    kept = []
    for i in range(count):
        kept.append(torch.empty(100 * i + 1, device="cuda"))
        greenlet.getcurrent().parent.switch(i)
    return len(kept)


training = Training()
for turn in range(10):
    pool = [greenlet.greenlet(worker) for _ in range(6)]
    results = [g.switch(3 * i, 4) for i, g in enumerate(pool)]
    while any(not g.dead for g in pool):
        results += [g.switch() for g in pool if not g.dead]
        torch.empty(77, device="cuda")
    print(results)
    training.turn()
