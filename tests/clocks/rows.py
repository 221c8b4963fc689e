"""Programs of a few lines, each a row of the table of steps counted, in one file.

    @row(steps=30, clock="optimizer")
    def two_that_alternate(): ...

`python FILE [ROW...]` runs each in a child of its own, forked before CUDA is used, and prints one
line of JSON per row: its name, what is expected, the child's pid and exit code.  Where steps are
None their number is not compared.
"""

import gc
import json
import os
import sys
import traceback

import torch._dynamo  # noqa: F401  torch.optim imports it at its first step; here once for all rows

found = []


def row(steps, clock="optimizer", **wanted):
    def add(function):
        none = {"host": None, "kept_after": None}
        counted = {} if steps is None else {"steps": steps}
        found.append((function, {**counted, "clock": clock, **none, **wanted}))
        return function

    return add


def run(function):
    try:
        function()
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main():
    for function, wanted in found:
        name = function.__name__
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            code = run(function)
            sys.stdout.flush()
            if os.environ.get("GPULEAK_WRITER") == "slots":
                gc.freeze()  # else Python looks for garbage in all of PyTorch
                sys.exit(code)  # os._exit() waits for a moment only until all is written
            os._exit(code)  # tearing PyTorch down takes longer than most rows
        code = os.waitpid(pid, 0)[1]
        print(json.dumps({"row": name, "wanted": wanted, "pid": pid, "code": code}))
