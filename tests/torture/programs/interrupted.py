"""Ctrl-C in mid-training: caught once, and fatal in the end."""

# exit: -2
# signal: INT
# killed

import torch
from tiny import Training

training = Training()
training.run(5)
try:
    print("ready", flush=True)
    while True:
        training.turn()
except KeyboardInterrupt:
    print("interrupted", torch.cuda.is_initialized(), flush=True)
raise KeyboardInterrupt("again")
