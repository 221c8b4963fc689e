#!/usr/bin/env python3
"""What --peak says is what PyTorch's own history of its memory says, line by line.

    peaks.py [--build FOLDER] [--python PYTHON] PROGRAM...

The program runs under the tracer with PyTorch's recorder on; at its end the recorder's events are
replayed up to the moment when most was allocated. What each line of the program held then must be
what the report's rows say, to the byte. What autograd's threads allocated has no line there, and is
compared with what the report puts at the lines that call backward() and at none.

Exit 0: as expected. 1: not. 77: PyTorch or the built programs are not there.
"""

import json
import os
import runpy
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from expectation import read_expectation
from forked import Runs
from harness import Failure, arguments, each_program, setup_from, tail, test_main
from truth import program_line

TARGET = "GPULEAK_PEAKS_FILE"


def account(events: list, program: str) -> tuple:
    """The highest sum of bytes allocated, and what each line held then."""
    live, lines, total, highest, at_peak = {}, Counter(), 0, 0, {}
    for event in events:
        if event["action"] == "alloc":
            size = (event["size"] + 511) // 512 * 512
            line = program_line(event["frames"], program)
            live[event["addr"]] = line, size
            lines[line] += size
            total += size
        elif event["action"] == "free_requested" and event["addr"] in live:
            line, size = live.pop(event["addr"])
            lines[line] -= size
            total -= size
        if total > highest:
            highest, at_peak = total, +lines
    return highest, at_peak


def inside(program: str, target: str) -> None:
    import torch

    torch.cuda.memory._record_memory_history(
        enabled="all", context="alloc", stacks="python", max_entries=10_000_000
    )
    runpy.run_path(program, run_name="__main__")
    traces = torch.cuda.memory._snapshot()["device_traces"]
    highest, lines = account(traces[torch.cuda.current_device()], program)
    found = {"highest": highest, "pytorch": torch.cuda.max_memory_allocated(), "lines": list(lines.items())}
    Path(target).write_text(json.dumps(found))


def rows_of(peak: dict, program: str) -> Counter:
    lines = Counter()
    for row in peak["made_of"]:
        where = row["where"] or {}
        lines[where.get("line") if where.get("file") == program else None] += row["bytes"]
    return lines


def together(lines: Counter, backward: set) -> Counter:
    """Lines that call backward() are one with no line."""
    result = Counter()
    for line, size in lines.items():
        result[None if line in backward else line] += size
    return result


def check(setup, runs, program: Path) -> None:
    want = read_expectation(program)
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
        trace, target = Path(folder) / "trace.bin", Path(folder) / "account.json"
        words = [Path(__file__).resolve(), want.path]
        done = runs.execute(words, trace, {TARGET: str(target)}, **want.machine)
        if not target.exists():
            raise Failure(f"{want.path.name}: exits {done.returncode}\n{tail(done.stderr)}")
        found = json.loads(target.read_text())
        peak = setup.read(trace, "--peak")[0]["devices"][0]["peak"]
    if found["highest"] != found["pytorch"]:
        raise Failure(f"{want.path.name}: blocks larger than asked for: {found}; no program for this test")

    text = want.path.read_text().splitlines()
    backward = {n for n, line in enumerate(text, 1) if "backward(" in line or "autograd.grad(" in line}
    wanted = together(Counter(dict(map(tuple, found["lines"]))), backward)
    got = together(rows_of(peak, str(want.path)), backward)
    wrong = [f"line {n}: {wanted[n]} bytes; got {got[n]}" for n in {*wanted, *got} if wanted[n] != got[n]]
    if peak["bytes"] != found["highest"] or peak["unattributed"]:
        wrong.append(f"{found['highest']} bytes; got {peak['bytes']}, {peak['unattributed']} unattributed")
    if wrong:
        raise Failure(f"{want.path.name}, step {peak['step']}:\n  " + "\n  ".join(wrong))
    print(f"{want.path.name}: {peak['bytes']} bytes in step {peak['step']}, {len(wanted)} lines agree")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("program", type=Path, nargs="+")
    options = parser.parse_args()
    if TARGET in os.environ:
        inside(str(options.program[0]), os.environ[TARGET])
        return
    setup = setup_from(options)
    with Runs(setup) as runs:
        each_program(options.program, lambda program: check(setup, runs, program))


if __name__ == "__main__":
    test_main(main)
