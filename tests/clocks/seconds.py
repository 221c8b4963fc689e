"""The last resort: where no call stack comes again, each second in which something is freed is a step,
from the tenth on. It takes half a minute.
"""

import time

import torch

import rows
from rows import row

STEPS = list(range(22, 27))  # of 35 seconds, as the machine likes


def cells(kept, seconds=35):
    """Each cell is new code, run once; none is let go of, whose address the next one might have."""
    end, codes = time.monotonic() + seconds, []
    while time.monotonic() < end:
        name = f"<cell {len(codes)}>"
        codes.append(compile("x = torch.ones(4096, device='cuda') * 2", name, "exec"))
        names = {"torch": torch}
        exec(codes[-1], names)
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
