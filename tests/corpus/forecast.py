#!/usr/bin/env python3
"""The forecast is right: a training that leaks is cut short, and then let run until the GPU is full.

    forecast.py [--build FOLDER] [--python PYTHON]

At each cut the report must say at which step the second run ended in OutOfMemoryError, within the
range that it gives, and be near: a leak each step, one every 20 steps, and one whose blocks differ.
A clean training, and one too short for a verdict, must have no forecast.

Exit 0: as expected. 1: not. 77: PyTorch or the built programs are not there.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

from forked import Runs
from harness import Failure, arguments, setup_from, tail, test_main

MEMORY = "1G"
MIB = 1 << 20
NEAR = 0.1  # of the steps that are left


def each_step(step):
    return 4 * MIB


def each_twentieth(step):
    return 64 * MIB if step % 20 == 10 else 0


def of_many_sizes(step):
    return random.randrange(MIB, 7 * MIB)


def nothing(step):
    return 0


# Steps seen, of the about 200 that fit; and whether there is a forecast.
CASES = [
    (each_step, 60, True),
    (each_step, 150, True),
    (each_twentieth, 150, True),
    (of_many_sizes, 150, True),
    (nothing, 100, False),
    (each_step, 15, False),
]


def train(bytes_kept, steps: int) -> None:
    import torch
    from torch import nn

    random.seed(1)
    net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda()
    opt = torch.optim.Adam(net.parameters())
    kept = []
    for step in range(1, steps + 1):
        print(step, flush=True)
        size = bytes_kept(step)
        if size:
            kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        opt.zero_grad()
        net(torch.randn(64, 256, device="cuda")).pow(2).mean().backward()
        opt.step()


def run(runs, folder: Path, name: str, steps: int, **how):
    words = [Path(__file__).resolve(), "--train", name, steps]
    return runs.execute(words, folder / "trace.bin", memory=MEMORY, **how)


def last_step(done) -> int:
    steps = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    if done.returncode == 0 or "OutOfMemoryError" not in done.stderr:
        raise Failure(f"an OutOfMemoryError; got {done.returncode}\n{tail(done.stderr)}")
    return steps[-1]


def check(setup, runs, folder: Path, kept, seen: int, forecast: bool) -> list:
    done = run(runs, folder, kept.__name__, seen)
    device = setup.read(folder / "trace.bin")[0]["devices"][0]
    (folder / "trace.bin").unlink()
    said, between = device["full_at_step"], device["full_at_step_range"]
    what = f"{kept.__name__}, {seen} steps seen"
    if not forecast:
        return [] if said is None and between is None else [f"{what}: no forecast; got {said}"]
    if said is None or device["full_in_seconds"] is None:
        return [f"{what}: a forecast; got {said} in {device['full_in_seconds']}\n{tail(done.stdout)}"]
    full = last_step(run(runs, folder, kept.__name__, 10000, trace=False))
    print(f"{what}: full at {full}, forecast {said} {between}")
    wrong = []
    if not between[0] <= full <= (between[1] or full):
        wrong.append(f"{what}: full at {full}, within {between}")
    if abs(said - full) > NEAR * (full - seen) + (20 if kept is each_twentieth else 1):
        wrong.append(f"{what}: full at {full}; got {said}")
    if kept is each_step and between[1] - between[0] > 0.1 * (full - seen):
        wrong.append(f"{what}: a narrow range; got {between}")
    pace = device["full_in_seconds"] / (said - seen)
    ends = [(seconds, step - seen) for seconds, step in zip(device["full_in_seconds_range"], between) if step]
    # Seconds are said to the millisecond, and steps whole.
    if any(abs(seconds - pace * steps) > 0.002 + 2 * pace for seconds, steps in ends):
        wrong.append(f"{what}: the pace of the range {ends} is that of the forecast, {pace}")
    return wrong


def main() -> None:
    options = arguments(__doc__).parse_args()
    setup = setup_from(options)
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder, Runs(setup) as runs:
        wrong = [text for case in CASES for text in check(setup, runs, Path(folder), *case)]
    if wrong:
        raise Failure("\n".join(wrong))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(globals()[sys.argv[2]], int(sys.argv[3]))
    else:
        test_main(main)
