"""A timer's handler allocates a thousand times a second, in the middle of everything."""

# marks: 40

import signal

import torch
from tiny import Training

hits = 0


def handler(number, frame):
    global hits
    hits += 1
    torch.empty(100, device="cuda")


signal.signal(signal.SIGALRM, handler)
training = Training()
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
training.run(39)
while hits < 50:
    torch.empty(10, device="cuda")
signal.setitimer(signal.ITIMER_REAL, 0)
training.turn()
print("done", signal.getsignal(signal.SIGALRM) is handler)
