"""A training on the CPU, with a PyTorch that could use a GPU: an empty trace, and one line why."""

# says: ended without a GPU allocation

import torch
from tiny import Training

training = Training("cpu")
training.run(10)
print(sum(p.double().sum().item() for p in training.net.parameters()))
