"""Runs programs of this folder in children of one Python, which has imported torch and not used CUDA.

    forked.py PROGRAM [NAME=VALUE...] [--times N] [-- PROGRAM ...]

Importing torch takes longer than most of them. NAME=VALUE is for what the simulated GPU reads when it
is first used; what PyTorch reads from the environment it may have read by then.
"""
import os
import runpy
import sys
import time
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent


def main() -> int:
    wrong = 0
    for words in " ".join(sys.argv[1:]).split(" -- "):
        name, *settings = words.split()
        times = 1
        if "--times" in settings:
            at = settings.index("--times")
            times = int(settings[at + 1])
            del settings[at:at + 2]
        for _ in range(times):
            begun = time.monotonic()
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                os.environ.update(pair.split("=", 1) for pair in settings)
                sys.argv = [str(HERE / (name + ".py"))]
                runpy.run_path(sys.argv[0], run_name="__main__")
                return 0
            status = os.waitpid(pid, 0)[1]
            wrong += status != 0
            print(f"{'wrong' if status else 'good '} {words}: {status}, {time.monotonic() - begun:.1f} s")
    return 1 if wrong else 0


if torch.cuda.is_initialized():
    sys.exit("importing torch used CUDA: nothing can be forked")
if __name__ == "__main__":
    sys.exit(main())
