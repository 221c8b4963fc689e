"""Other interpreters come and go in the process, with code of their own.

No backward pass after that: PyTorch then believes that it is called with the GIL held, and refuses.
"""

import _xxsubinterpreters as interpreters
import torch
from tiny import Training


def deep(level):
    return deep(level - 1) if level else torch.empty(100, device="cuda")


training = Training()
training.run(8)
kept = []
for turn in range(8):
    other = interpreters.create()
    interpreters.run_string(other, "def f(n):\n    return n and f(n - 1)\nf(50)")
    kept.append(deep(20))
    interpreters.destroy(other)
    deep(10)
print("done", torch.cuda.memory_allocated())
