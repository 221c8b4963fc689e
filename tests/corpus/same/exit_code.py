"""Ends with an exit code of its own, with GPU memory in use and a message on stderr."""

# exit: 5

import sys

import torch

kept = [torch.zeros(1000, device="cuda") for _ in range(10)]
print(torch.cuda.memory_allocated())
print("gives up", file=sys.stderr)
sys.exit(5)
