"""sys.exit() in a thread ends that thread; the main thread goes on and exits with a code."""

# exit: 4

import sys
import threading

import torch
from tiny import Training


def leave():
    torch.empty(1000, device="cuda")
    sys.exit(9)


training = Training()
for _ in range(8):
    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    training.turn()
print("main goes on")
sys.exit(4)
