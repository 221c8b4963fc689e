#!/usr/bin/env python3
"""What the tracer costs a process without PyTorch: its hooks, threads, growing, start and exit.

    process_cost.py [--build BUILD] [--json FILE] [--quick]

Prints each figure beside its goal. Nothing fails here: figures depend on the machine and on what
else runs on it.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Bench:
    def __init__(self, build: Path, folder: Path):
        self.program = build / "tests/programs/hook_bench"
        self.tracer = build / "libgpuleak.so"
        self.folder = folder

    def run(self, *words: str, traced: bool = True, **variables: str) -> tuple:
        """What it printed, and the seconds on the clock before its start and after its end."""
        env = {"PATH": os.environ["PATH"], "GPULEAK_OUT": str(self.folder / "trace.bin")}
        env.update({"GPULEAK_CLOCK": "given", **variables})
        if traced:
            env["LD_PRELOAD"] = str(self.tracer)
        before = time.monotonic_ns()
        done = subprocess.run(
            [self.program, *words], env=env, stdout=subprocess.PIPE, text=True, check=True
        )
        after = time.monotonic_ns()
        (self.folder / "trace.bin").unlink(missing_ok=True)
        return json.loads(done.stdout), before, after

    def grow(self, count: int, rounds: int) -> dict:
        """The longest single calls while tables grow: medians of the rounds; sums of counts."""
        said = [self.run("grow", str(count), GPULEAK_SIZE="256M")[0] for _ in range(rounds)]
        return {
            name: (sum if name.endswith("_over") else statistics.median)(one[name] for one in said)
            for name in said[0]
        }

    def ends(self, events: int, rounds: int) -> dict:
        """ms that the tracer adds to start and exit: medians, with and without in turn."""
        start, leave = {True: [], False: []}, {True: [], False: []}
        for round in range(2 * rounds):
            traced = bool(round % 2)
            _, before, after = self.run("events", "0", traced=traced)
            start[traced].append(after - before)
            said, _, after = self.run("events", str(events), traced=traced)
            leave[traced].append(after - said["exit_at"])
        added = {
            name: (statistics.median(times[True]) - statistics.median(times[False])) / 1e6
            for name, times in (("start_and_end_ms", start), ("exit_ms", leave))
        }
        return added


def growth_rows(grow: dict, rounds: int) -> list:
    """The longest calls, and beside them what the machine does by itself in the same moments."""
    found = []
    for name, what in (
        ("blocks", "10^6 blocks come to live"),
        ("frees", "they are freed within a step"),
        ("sites", "10^5 sites come"),
    ):
        found += [(f"longest call while {what}", grow[f"{name}_ns"] / 1e6, "ms", 0.2)]
        for kind, label in (
            ("_loop", "loops that touch nothing"),
            ("_own", "first touches of pages of its own"),
            ("_file", "first touches of pages of a file like the trace"),
        ):
            found += [(f"  control: {label}", grow[f"{name}{kind}_ns"] / 1e6, "ms", None)]
        for kind, label in (("", "calls"), ("_loop", "loops"), ("_own", "pages"), ("_file", "file")):
            over = grow[f"{name}{kind}_over"]
            found += [(f"  {label} of more than 0.2 ms in {rounds} runs", over, "", None)]
        found += [("  pages first touched, most in a call", grow[f"{name}_most_faults"], "", None)]
        found += [("  ... and in all", grow[f"{name}_faults"], "", None)]
    return found


def rows(bench: Bench, quick: bool) -> list:
    """(what, figure, unit, goal or None)"""
    devices, _, _ = bench.run("devices")
    turning, _, _ = bench.run("devices", GPULEAK_CLOCK="auto")
    rounds = 1 if quick else 5
    grow = growth_rows(bench.grow(10000 if quick else 1000000, rounds), rounds)
    ends = bench.ends(10000 if quick else 1000000, 3 if quick else 15)
    pair, _, _ = bench.run("pairs")
    ratio = devices["together_ns"] / devices["alone_ns"]
    turns = turning["together_ns"] / turning["alone_ns"]
    control = devices["control_together_ns"] / devices["control_alone_ns"]
    plain, _, _ = bench.run("devices", traced=False)
    untraced = plain["together_ns"] / plain["alone_ns"]
    return [
        ("an allocation and its free, native stack of 8 frames", pair["pair_ns"], "ns", None),
        ("two threads on two devices, times one thread's pair", ratio, "x", 1.3),
        ("the same with turns of the loop for steps", turns, "x", 1.3),
        ("control: two threads that share nothing", control, "x", None),
        ("control: two threads on two devices, untraced", untraced, "x", None),
        *grow,
        ("start-up and end of a process with few events", ends["start_and_end_ms"], "ms", 30),
        ("exit after 10^6 events", ends["exit_ms"], "ms", 50),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
        table = rows(Bench(options.build.resolve(), Path(folder)), options.quick)
    for what, figure, unit, goal in table:
        print(f"{what:54} {figure:9.2f} {unit:3} {f'goal {goal}' if goal else ''}".rstrip())
    if options.json:
        options.json.write_text(
            json.dumps([dict(zip(("what", "figure", "unit", "goal"), row)) for row in table])
        )


if __name__ == "__main__":
    main()
