"""Workers of Python's multiprocessing, which end by os._exit(), with a stand-in of PyTorch under the tracer.

    workers_program.py FOLDER      of the fake libraries

Two forked workers and their parent make marks, the last ones shortly before the end or the fork; the
parent ends by os._exit(), too. Each prints a line of JSON as children.c does.
"""

import ctypes
import json
import multiprocessing
import os
import sys
import time

BLOCK = 512
MARKS = 20

library = ctypes.CDLL(os.path.join(sys.argv[1], "libc10_cuda.so"))
library.fake_alloc.restype = ctypes.c_uint64
library.fake_alloc.argtypes = (ctypes.c_int, ctypes.c_uint64)
tracer = ctypes.CDLL(None)


def work():
    for mark in range(MARKS):
        library.fake_alloc(0, BLOCK)
        tracer.gpuleak_step()
        if mark == MARKS // 2:
            time.sleep(0.02)  # long enough for a first mark to be written, too short for two
    said = {"pid": os.getpid(), "marks": MARKS, "allocs": MARKS, "frees": 0, "live": MARKS * BLOCK}
    print(json.dumps(said), flush=True)


work()
workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
os._exit(0)
