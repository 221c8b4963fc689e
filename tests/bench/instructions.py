#!/usr/bin/env python3
"""Instructions that an allocation or a free costs in the tracer, as callgrind counts them.

    tests/bench/instructions.py [--build BUILD] [--json FILE]

A program of stand-ins reports few events and then many: the difference, by event, is what
neither start nor end has a part in, and less the same without the tracer it is ours.  Half of
the events are allocations from 50 native stacks of 8 frames.  Needs valgrind.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FEW, MANY = 20000, 120000


def instructions(build: Path, folder: Path, events: int, traced: bool) -> int:
    counts = folder / "callgrind.out"
    env = dict(os.environ, GPULEAK_CLOCK="given", GPULEAK_OUT=str(folder / "trace.bin"))
    if traced:
        env["LD_PRELOAD"] = str(build / "libgpuleak.so")
    program = [str(build / "tests/programs/hook_bench"), "events", str(events)]
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    run = subprocess.run(
        [*valgrind, *program], env=env, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        sys.exit(f"instructions.py: {program[0]} under valgrind:\n{run.stderr}")
    totals = [line for line in counts.read_text().splitlines() if line.startswith("totals:")]
    return int(totals[-1].split()[1])


def by_event(build: Path, folder: Path, traced: bool) -> float:
    few, many = (instructions(build, folder, events, traced) for events in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("instructions.py: valgrind is not installed")
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
        build = options.build.resolve()
        with_us, without = (by_event(build, Path(folder), traced) for traced in (True, False))
    print(f"instructions an event: {with_us - without:.0f} of ours, {without:.0f} of the program's")
    if options.json:
        options.json.write_text(json.dumps({"tracer": with_us - without, "program": without}))


if __name__ == "__main__":
    main()
