"""At its end a program waits for a thread that has used CUDA and still runs, but not for ever."""
import subprocess
import sys
import time

from check import expect, expect_equal, result

PROGRAM = """
import os, sys, threading, time
import torch

def work():
    torch.zeros(1, device="cuda")
    started.set()
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        pass
    os.write(1, b"done")

torch.zeros(1, device="cuda")
started = threading.Event()
threading.Thread(target=work, daemon=True).start()
started.wait()
"""


def run(seconds: float) -> tuple[str, float]:
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(seconds)], capture_output=True,
                          text=True)
    return done.stdout, time.monotonic() - begin


expect_equal(run(0.2)[0], "done")
output, seconds = run(40)
expect_equal(output, "")
expect(seconds < 30, f"{seconds} s")
sys.exit(result())
