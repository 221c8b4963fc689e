"""SIGTERM, with a handler that saves and leaves, as under a scheduler."""

# exit: 143
# signal: TERM
# killed

import signal
import sys

import torch
from tiny import Training


def save(number, frame):
    torch.empty(100_000, device="cuda").cpu()
    print("saved", number)
    sys.exit(128 + number)


signal.signal(signal.SIGTERM, save)
training = Training()
training.run(5)
print("ready", flush=True)
while True:
    training.turn()
