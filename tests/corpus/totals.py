#!/usr/bin/env python3
"""What the tracer counts is what PyTorch counts, at every mark of a program.

A hook of this script, run at each optimizer step, asks torch.cuda.memory_allocated() and
memory_reserved() of every device; the trace must have the same numbers at its marks. At the last
mark the bytes of all sites of tensors add up to allocated, those of segments to reserved.
"""

import argparse
import json
import os
import runpy
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from expectation import read_headers
from forked import Runs
from harness import Failure, arguments, each_program, setup_from, tail, test_main

ASKED = "GPULEAK_TOTALS_FILE"


def ask_while_running(program: str, target: str) -> None:
    """In the traced process: runs the program and writes PyTorch's own numbers to `target`."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    asked = []

    def ask(*_) -> None:
        asked.append(
            [
                (torch.cuda.memory_allocated(d), torch.cuda.memory_reserved(d))
                for d in range(torch.cuda.device_count())
            ]
        )

    register_optimizer_step_post_hook(ask)
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        Path(target).write_text(json.dumps(asked))


def compare_device(device: dict, asked: list) -> list:
    index, series = device["device"], device["series"]
    wrong = []
    if series["step"] != list(range(1, len(asked) + 1)):
        got = f"{len(series['step'])}, {series['step'][:5]} ..."
        return [f"device {index}: steps 1 to {len(asked)}; got {got}"]
    for kind, name in enumerate(("allocated", "reserved")):
        off = [
            (step, got, row[index][kind])
            for step, got, row in zip(series["step"], series[name], asked)
            if got != row[index][kind]
        ]
        if off:
            step, got, want = off[0]
            wrong.append(
                f"device {index}: {name} differs at {len(off)} of {len(asked)} marks, "
                f"first at {step}: PyTorch {want}, trace {got} ({got - want:+})"
            )
    for source, kind, what in (("torch", 0, "allocated"), ("cudaMalloc", 1, "reserved")):
        held = sum(site["bytes"] for site in device["sites"] if site["source"] == source)
        if held != asked[-1][index][kind]:
            wrong.append(
                f"device {index}: {asked[-1][index][kind]} bytes {what} at the end; "
                f"the sites of {source} hold {held}"
            )
    return wrong


def compare(report: dict, asked: list) -> list:
    devices = {device["device"]: device for device in report["devices"]}
    wrong = []
    for index in range(len(asked[0])):
        if index in devices:
            wrong += compare_device(devices[index], asked)
        elif any(row[index] != [0, 0] for row in asked):
            wrong.append(f"device {index}: not in the report")
    return wrong


def check(setup, runs, program: Path) -> None:
    headers = read_headers(program)

    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        trace, target = Path(scratch) / "trace.bin", Path(scratch) / "asked.json"
        done = runs.execute(
            [Path(__file__).resolve(), program],
            trace,
            {ASKED: str(target)},
            memory=headers.get("memory"),
            devices=headers.get("devices"),
        )
        if done.returncode or not target.exists():
            raise Failure(
                f"{program.name} exits {done.returncode}\n{tail(done.stdout + done.stderr)}"
            )
        asked = json.loads(target.read_text())
        report, _ = setup.read(trace, "--all")
    if len(asked) < 20:
        raise Failure(f"{program.name}: {len(asked)} steps are too few to compare")
    wrong = compare(report, asked)
    if wrong:
        raise Failure(f"{program.name}:\n  " + "\n  ".join(wrong))
    devices = len(report["devices"])
    print(f"{program.name}: {len(asked)} marks on {devices} device(s), the same as PyTorch's")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("program", type=Path, nargs="+")
    options = parser.parse_args()
    if ASKED in os.environ:
        ask_while_running(str(options.program[0]), os.environ[ASKED])
        return
    setup = setup_from(options)
    with Runs(setup) as runs:
        each_program(options.program, lambda program: check(setup, runs, program))


if __name__ == "__main__":
    test_main(main)
