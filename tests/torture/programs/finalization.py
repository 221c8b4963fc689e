"""The interpreter ends with live CUDA tensors everywhere: globals, cycles, atexit, __del__."""

import atexit
import gc
import threading

import torch
from tiny import Training

training = Training()
training.run(8)


class Holder:
    def __init__(self, size):
        self.tensor = torch.empty(size, device="cuda")
        self.self = self

    def __del__(self):
        try:
            torch.empty(100, device="cuda")
        except Exception as error:
            print("too late", type(error).__name__)


def last_words():
    global later
    later = torch.empty(1000, device="cuda")
    print("atexit", torch.cuda.memory_allocated() > 0)


gc.disable()
cycles = [Holder(1000 * i) for i in range(1, 6)]
for _ in range(5):
    Holder(512)  # garbage, until the end
atexit.register(last_words)
waiting = torch.empty(100, device="cuda")
thread = threading.Thread(target=lambda: threading.Event().wait(0.2))
thread.start()
print("main ends")
