"""Leaves in all the ways that run no destructor, with a stand-in of PyTorch under the tracer.

    leaving_program.py FOLDER WAY [BROKEN]      FOLDER: of the fake libraries

After 20 marks in quick succession: WAY `exit`: os._exit().  `exec`: becomes /bin/true.  `fail`: asks
for a program that isn't there, as a child and in its own place, marks on, and os._exit().  BROKEN:
once all is written this file is made, which breaks the disk, and there are more marks.  Prints the
seconds that each took.
"""

import ctypes
import os
import subprocess
import sys
import time

library = ctypes.CDLL(os.path.join(sys.argv[1], "libc10_cuda.so"))
library.fake_alloc.restype = ctypes.c_uint64
library.fake_alloc.argtypes = (ctypes.c_int, ctypes.c_uint64)
tracer = ctypes.CDLL(None)


def steps(count):
    for _ in range(count):
        library.fake_alloc(0, 512)
        tracer.gpuleak_step()


def timed(what, *arguments):
    begun = time.monotonic()
    try:
        what(*arguments)
    except FileNotFoundError:
        pass
    print(time.monotonic() - begun, flush=True)


def ask_for_nothing():
    subprocess.call(["/not/there"])  # by vfork(), where Python has that


steps(20)
if len(sys.argv) > 3:
    input()
    open(sys.argv[3], "w").close()
    steps(20)
    time.sleep(0.3)  # the writing is under way, and the disk hangs
    steps(20)
if sys.argv[2] == "fail":
    timed(ask_for_nothing)
    timed(os.execv, "/not/there", ["not", "there"])
    timed(os.execv, "/not/there", ["not", "there"])
    steps(20)
if sys.argv[2] == "exec":
    os.execv("/bin/true", ["true"])
print("leaves", time.monotonic(), flush=True)
os._exit(3)
