#!/usr/bin/env python3
"""The verdict on a corpus program doesn't hang on where it is cut, nor on how its steps are counted.

The program is run to its end, cut off at a half and at three quarters of its steps, and with
gpuleak_step() called twice in each optimizer step, and after every second one. A verdict may go from
LEAK to less only where the report says since when the growth is over; counted in another way the
verdict and the bytes per training step are the same.

Exit 0: as expected. 1: not. 77: PyTorch or the built programs are not there.
"""

import ctypes
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from expectation import read_expectation
from forked import Runs
from harness import Failure, arguments, each_program, setup_from, tail, test_main
from run import near

HOW = "GPULEAK_RECOUNTED"
OVER = re.compile(r"since|by step|stopped|replaced|given back")


def inside(program: str, how: str) -> None:
    """In the traced process: `cut N` ends it after N steps; `twice`, `half`: gpuleak_step()."""
    from torch.optim.optimizer import (
        register_optimizer_step_post_hook,
        register_optimizer_step_pre_hook,
    )

    mark = ctypes.CDLL(None).gpuleak_step
    mark.restype = None
    steps = 0

    def after(*_) -> None:
        nonlocal steps
        steps += 1
        if how.startswith("cut") and steps == int(how.split()[1]):
            sys.stdout.flush()
            os._exit(0)
        if how == "twice" or (how == "half" and steps % 2 == 0):
            mark()

    if how == "twice":
        register_optimizer_step_pre_hook(lambda *_: mark())  # it returns None, as such a hook must
    register_optimizer_step_post_hook(after)
    runpy.run_path(program, run_name="__main__")


def judge(setup, runs, want, folder: Path, how: str) -> dict:
    """The report of a run."""
    trace = folder / "trace.bin"
    words = [Path(__file__).resolve(), want.path]
    done = runs.execute(words, trace, {HOW: how}, **want.machine)
    if done.returncode or not trace.exists():
        raise Failure(f"{want.path.name}, {how}: exits {done.returncode}\n{tail(done.stderr)}")
    report, _ = setup.read(trace)
    trace.unlink()
    return report


def check_cut(how: str, early: dict, late: dict) -> list:
    """What was a LEAK at the cut is one at the end, or that is explained."""
    if early["verdict"] != "LEAK" or late["verdict"] == "LEAK":
        return []
    said = [s["evidence"] or "" for s in late["devices"][0]["sites"]]
    if any(OVER.search(text) for text in said):
        return []
    return [f"{how}: LEAK, at the end {late['verdict']} without a word of since when"]


def per_training_step(report: dict, steps: int):
    rate = report["devices"][0]["bytes_per_step"]
    return rate and rate * report["trace"]["steps"] / steps


def check_marks(how: str, want, other: dict, usual: dict) -> list:
    steps = usual["trace"]["steps"]
    wrong = []
    if other["trace"]["clock"] != "explicit":
        wrong.append(f"{how}: the clock explicit; got {other['trace']['clock']}")
    expected = 2 * steps if how == "twice" else steps // 2
    if abs(other["trace"]["steps"] - expected) > 1:
        wrong.append(f"{how}: {expected} marks; got {other['trace']['steps']}")
    said = {other["verdict"], usual["verdict"]}
    begun_later = how == "half" and said == {"JUMP", "STABLE"}  # the jump is before the first mark
    if len(said) > 1 and not said <= set(want.verdicts) and not begun_later:
        wrong.append(f"{how}: verdict {usual['verdict']}; got {other['verdict']}")
    rates = [per_training_step(report, steps) for report in (usual, other)]
    if rates[0] is not None and not near(rates[1], rates[0]):
        wrong.append(f"{how}: {rates[0]:.1f} bytes per training step; got {rates[1]}")
    return wrong


def check(setup, runs, program: Path) -> None:
    want = read_expectation(program)
    calls = want.steps * want.optimizers
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        folder = Path(scratch)
        cuts = [f"cut {calls // 2}", f"cut {calls - calls // 4}"]
        usual, half, most, twice, every_second = (
            judge(setup, runs, want, folder, how) for how in ("usual", *cuts, "twice", "half")
        )
    wrong = check_cut("at half", half, usual) + check_cut("at half", half, most)
    wrong += check_cut("at three quarters", most, usual)
    wrong += check_marks("twice", want, twice, usual) + check_marks("half", want, every_second, usual)
    if usual["verdict"] not in want.verdicts:
        wrong.append(f"verdict {want.verdicts}; got {usual['verdict']}")
    said = ", ".join(r["verdict"] for r in (half, most, usual, twice, every_second))
    if wrong:
        raise Failure(f"{want.path.name}: {said}\n  " + "\n  ".join(wrong))
    print(f"{want.path.name}: half, three quarters, whole, two marks a step, every second: {said}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("program", type=Path, nargs="+")
    options = parser.parse_args()
    if HOW in os.environ:
        inside(str(options.program[0]), os.environ[HOW])
        return
    setup = setup_from(options)
    with Runs(setup) as runs:
        each_program(options.program, lambda program: check(setup, runs, program))


if __name__ == "__main__":
    test_main(main)
