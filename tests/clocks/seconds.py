"""The last resort: where no call stack comes again, each second in which something is freed is a step,
from the tenth on. It takes half a minute.
"""

import time

import torch

import rows
from rows import row

STEPS = list(range(22, 27))  # of 35 seconds, as the machine likes


def cells(kept, seconds=35):
    """As in a notebook: each cell is new code, run once."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        code = compile("x = torch.ones(4096, device='cuda') * 2", f"<cell {number}>", "exec")
        names = {"torch": torch}
        exec(code, names)
        if kept is not None:
            kept.append(names["x"])
        time.sleep(0.05)


@row(steps=STEPS, clock="time", device="STABLE")
def code_that_never_comes_again():
    cells(None)


@row(steps=STEPS, clock="time", device="LEAK")
def leak_of_code_that_never_comes_again():
    """Each stack keeps one block; together they are a leak."""
    cells([])


rows.main()
