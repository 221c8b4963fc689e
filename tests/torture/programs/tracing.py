"""sys.settrace, sys.setprofile and threading.settrace, while allocations go on."""

import sys
import threading

import torch
from tiny import Training

counts = {}


def trace(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        counts[event] = counts.get(event, 0) + 1
        frame.f_locals  # makes a frame's dictionary
        if event == "line" and frame.f_code.co_name == "allocate":
            torch.empty(10, device="cuda")
    return trace


def allocate(count):
    kept = []
    for i in range(count):
        kept.append(torch.empty(i + 1, device="cuda"))
    return len(kept)


training = Training()
for install in (sys.settrace, sys.setprofile):
    install(trace)
    print(allocate(20))
    training.run(3)
    install(None)
threading.settrace(trace)
thread = threading.Thread(target=allocate, args=(10,))
thread.start()
thread.join()
threading.settrace(None)
training.run(3)
print(counts)
