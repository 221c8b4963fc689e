"""Forks after its last turn, by itself and through multiprocessing, and ends without any clean-up."""

# exit: 3

import multiprocessing
import os
import time

from tiny import Training

training = Training()
training.run(6)
time.sleep(0.02)
training.run(6)
pid = os.fork()
if pid == 0:
    os._exit(0)
print(os.waitpid(pid, 0)[1])
worker = multiprocessing.get_context("fork").Process(target=print, args=("worker",))
worker.start()
worker.join()
print("gone", flush=True)
os._exit(3)
