#!/usr/bin/env python3
"""What a corpus program does to memory, told by PyTorch itself, without the tracer.

Prints the allocated bytes at each optimizer step, and from PyTorch's own memory history which
lines hold old blocks after the last one. Runs the program on the simulated GPU, or with --gpu on
the real one. --check compares with the program's comments: a LEAK grows to its end, at the lines
marked; where nothing may be found, nothing old is left behind that still grows.
"""

import argparse
import bisect
import json
import os
import runpy
import sys
from collections import defaultdict
from pathlib import Path
from typing import Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent))
from expectation import Expectation, read_expectation
from harness import Failure, arguments, setup_from, test_main

INSIDE = "GPULEAK_TRUTH_INSIDE"
NAIVE_MARGIN = 0.05
ROUNDS = 6


class Marks:
    """Allocated, reserved and allocations at each optimizer step; the history at the last."""

    def __init__(self, last_step, optimizers):
        self.optimizers, self.calls = optimizers, 0
        self.allocated, self.reserved, self.count = [], [], []
        self.last_step, self.events = last_step, []

    def note(self, *_) -> None:
        import torch

        self.calls += 1
        if self.calls % self.optimizers:
            return
        self.allocated.append(torch.cuda.memory_allocated())
        self.reserved.append(torch.cuda.memory_reserved())
        self.count.append(torch.cuda.memory_stats()["allocation.all.allocated"])
        if len(self.allocated) == self.last_step:
            self.keep_history()

    def keep_history(self) -> None:
        import torch

        traces = torch.cuda.memory._snapshot()["device_traces"]
        self.events = traces[torch.cuda.current_device()]
        torch.cuda.memory._record_memory_history(enabled=None)


def program_line(frames: list, program: str):
    """The innermost frame of the program itself."""
    for frame in frames:
        if frame["filename"] == program:
            return frame["line"]
    return None


def with_births(marks: Marks) -> Iterator[tuple]:
    """Each event with its step; step k ends at the k-th optimizer step."""
    seen, step = 0, 1
    for event in marks.events:
        if event["action"] == "alloc":
            seen += 1
            step = bisect.bisect_left(marks.count, seen) + 1
        yield event, step


def live_blocks(marks: Marks, program: str) -> list:
    """(birth step, size, line) of what is alive."""
    live = {}
    for event, birth in with_births(marks):
        if event["action"] == "alloc":
            live[event["addr"]] = (birth, event["size"], program_line(event["frames"], program))
        elif event["action"] == "free_requested":
            live.pop(event["addr"], None)
    return list(live.values())


def by_line(blocks: list, now: int) -> dict:
    """For each line: bytes, blocks, and the steps they are born in, but the first and last two."""
    lines = defaultdict(lambda: {"bytes": 0, "blocks": 0, "births": set(), "old": 0})
    for birth, size, line in blocks:
        entry = lines[line]
        rounded = (size + 511) // 512 * 512
        entry["bytes"] += rounded
        entry["blocks"] += 1
        if 1 < birth < now - 1:
            entry["births"].add(birth)
            entry["old"] += rounded
    return lines


def alarm(raised: bool) -> str:
    return "alarm" if raised else "quiet"


def naive(marks: "Marks") -> dict:
    """The rules people go by: R1 allocated always rose, R2 it ended higher, R3 reserved did."""
    rose = all(b > a for a, b in zip(marks.allocated, marks.allocated[1:]))
    above = [s[-1] > s[0] * (1 + NAIVE_MARGIN) for s in (marks.allocated, marks.reserved)]
    return {"R1": rose, "R2": above[0], "R3": above[1]}


def peer(marks: "Marks", program: str) -> dict:
    """Lines that the closest tool's rule blames, and bytes: blocks of a step after the first that
    outlive the next mark."""
    blamed, live = defaultdict(int), {}
    for event, birth in with_births(marks):
        if event["action"] == "alloc":
            live[event["addr"]] = (birth, event["size"], program_line(event["frames"], program))
        elif event["action"] == "free_requested" and event["addr"] in live:
            born, size, line = live.pop(event["addr"])
            if 1 < born < birth:
                blamed[line] += size
    for born, size, line in live.values():
        if 1 < born <= len(marks.allocated):
            blamed[line] += size
    return dict(blamed)


def late_slope(series: list) -> float:
    half = len(series) // 2
    return (series[-1] - series[half]) / max(1, len(series) - 1 - half)


def show_series(marks: Marks, program: Path) -> None:
    series, n = marks.allocated, len(marks.allocated)
    shown = sorted({*range(min(4, n)), *range(0, n, max(1, n // 12)), n - 1})
    print(f"{program.name}: allocated at each of {n} optimizer steps:")
    print("  " + ", ".join(f"{i + 1}: {series[i]}" for i in shown))
    print(
        f"  lowest {min(series)}, highest {max(series)}, "
        f"{late_slope(series):.1f} B a step in the second half"
    )
    alarms = ", ".join(f"{rule} {alarm(raised)}" for rule, raised in naive(marks).items())
    print(f"  reserved {marks.reserved[0]} .. {marks.reserved[-1]}; {alarms}")


def show_lines(lines: dict, program: Path) -> None:
    text = program.read_text().splitlines()
    print("  alive after the last step, by line; births: distinct steps but the first and last 2")
    for line, entry in sorted(lines.items(), key=lambda item: -item[1]["bytes"]):
        births = sorted(entry["births"])
        span = f"{births[0]}..{births[-1]}" if births else ""
        place = f"{line:>4} {text[line - 1].strip()[:50]}" if line else "     not on a line of it"
        print(
            f"    {entry['bytes']:>12} B {entry['blocks']:>6} blocks, "
            f"births {len(births):>4} {span:>9} {place}"
        )


def check_lines(lines: dict, want: Expectation) -> list:
    """The lines marked LEAK hold blocks of many steps, and no other line does."""
    wrong = []
    leaks = {m.line for m in want.markers if "LEAK" in m.verdicts}
    must = {m.line for m in want.markers if "LEAK" in m.verdicts and not m.optional and not m.words}
    for line in sorted(must):
        births = len(lines[line]["births"]) if line in lines else 0
        if births < ROUNDS:
            wrong.append(f"line {line} leaks; it holds blocks of {births} steps")
    for line, entry in lines.items():
        if want.exit == 1 and line and line not in leaks and len(entry["births"]) >= ROUNDS:
            wrong.append(
                f"line {line} does not leak; it holds blocks of {len(entry['births'])} steps"
            )
    return wrong


def check_rate(lines: dict, want: Expectation, steps: int) -> list:
    """What the lines marked LEAK, and autograd's threads where one is theirs, keep a step."""
    leaks = [m for m in want.markers if "LEAK" in m.verdicts]
    if want.rate is None or any("swell" in m.words for m in leaks):
        return []
    held = {m.line for m in leaks}
    if any("thread" in m.words or "operation" in m.options for m in leaks):
        held.add(None)
    begun = max(int(m.options.get("first", 2)) for m in leaks)
    span = max(1, steps - 1 - begun)
    rate = sum(lines[line]["old"] for line in held if line in lines) / span
    period = max(float(m.options.get("period", 0)) for m in leaks)
    share = 0.25 if want.uneven else 0.02
    if abs(rate - want.rate) <= share * want.rate + want.rate * period / span:
        return []
    return [f"{want.rate:.0f} bytes per step kept; got {rate:.1f}"]


def check(marks: Marks, lines: dict, want: Expectation) -> None:
    wrong = check_lines(lines, want)
    series = marks.allocated
    if want.steps is not None and len(series) != want.steps:
        wrong.append(f"{want.steps} steps; got {len(series)}")
    outside = any("outside" in marker.words for marker in want.markers)
    grows = series[-1] > series[len(series) // 2]
    if want.exit == 1 and grows == outside:
        wrong.append(
            f"growth {'outside PyTorch' if outside else 'in the second half'}; got {series}"
        )
    wrong += check_rate(lines, want, len(series))
    if wrong:
        raise Failure(f"{want.path.name}: its comments say\n  " + "\n  ".join(wrong))


def inside(options: argparse.Namespace) -> None:
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    program = options.program.resolve()
    want = read_expectation(program)
    marks = Marks(want.steps, want.optimizers)
    register_optimizer_step_post_hook(marks.note)
    torch.cuda.memory._record_memory_history(
        enabled="all", context="alloc", stacks="python", max_entries=10_000_000
    )
    sys.argv = [str(program)]
    runpy.run_path(str(program), run_name="__main__")
    if not marks.events:
        marks.keep_history()
    lines = by_line(live_blocks(marks, str(program)), len(marks.allocated))
    if options.json:
        others = {"naive": naive(marks), "peer": peer(marks, str(program))}
        path = options.json.with_suffix(f".{os.environ.get('LOCAL_RANK', 0)}.json")
        path.write_text(json.dumps(others))
    show_series(marks, program)
    show_lines(lines, program)
    if options.check:
        check(marks, lines, want.of_rank(int(os.environ.get("LOCAL_RANK", 0))))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the program's comments")
    parser.add_argument("--json", type=Path, help="PATH.RANK.json gets what other rules say")
    parser.add_argument("program", type=Path)
    options = parser.parse_args()
    if os.environ.get(INSIDE):
        inside(options)
        return
    setup = setup_from(options)
    os.environ[INSIDE] = "1"
    sys.stdout.flush()
    machine = read_expectation(options.program).machine
    command = setup.run_command([Path(__file__).resolve(), *sys.argv[1:]], trace=False, **machine)
    os.execv(command[0], command)


if __name__ == "__main__":
    test_main(main)
