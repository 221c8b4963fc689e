#!/usr/bin/env python3
"""Run a program on the simulated GPU: run.py SIM PYTHON PROGRAM [NAME=VALUE...] [--times N]

77 where PYTHON isn't there or has no PyTorch; else the program's own exit code. --times runs it N
times and fails if any run does. NAME=VALUE goes into the environment. `run.py SIM PYTHON --forked
WORDS` runs forked.py WORDS.
"""
from __future__ import annotations

import os
import subprocess
import sys


def has_torch(python: str) -> bool:
    find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    try:
        return subprocess.run([python, "-c", find]).returncode == 0
    except OSError:
        return False


def main() -> int:
    sim, python, program, *rest = sys.argv[1:]
    words, times = [program], 1
    if program == "--forked":
        words, rest = [os.path.join(os.path.dirname(__file__), "forked.py"), *rest], []
    if "--times" in rest:
        at = rest.index("--times")
        times = int(rest[at + 1])
        del rest[at:at + 2]
    if not has_torch(python):
        print(f"{python}: no PyTorch there")
        return 77
    environment = dict(os.environ, LD_AUDIT=os.path.join(sim, "libgpuleak-sim.so"))
    environment["PYTHONWARNINGS"] = "ignore"
    environment.update(pair.split("=", 1) for pair in rest)
    for name in [name for name, value in environment.items() if value == "-"]:
        del environment[name]
    for i in range(times):
        code = subprocess.run([python, *words], env=environment).returncode
        if code:
            print(f"{program}: exit code {code} in run {i + 1} of {times}")
            return 1 if code < 0 else code
    return 0


if __name__ == "__main__":
    sys.exit(main())
