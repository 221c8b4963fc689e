"""Ctrl-C falls into the moment when the tracer asks Python something: the program gets it.

A function of PyTorch that the tracer calls once is made to raise the signal then.
"""

# marks: 8

import signal
import sys

import torch
from tiny import Training

raised = caught = 0
original = torch.cuda.get_device_properties


def interrupting(*arguments):
    global raised
    if sys._getframe(1).f_code.co_filename == "<gpuleak>":
        raised += 1
        signal.raise_signal(signal.SIGINT)
    return original(*arguments)


torch.cuda.get_device_properties = interrupting
training = Training()
for _ in range(8):
    try:
        training.turn()
    except KeyboardInterrupt:
        caught += 1
print("all caught:", raised == caught)
assert raised == ("libgpuleak.so" in open("/proc/self/maps").read()), "the test sees nothing"
