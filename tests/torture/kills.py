#!/usr/bin/env python3
"""SIGKILL at random moments of a training: each trace is right up to its last mark.

    kills.py --build BUILD [--python PYTHON] [--kills N]

One process imports PyTorch and forks a training for each kill, before CUDA is used, so that a
hundred kills don't cost a hundred imports.  The first of them is not killed: its totals are what
the others must have at their marks.  GPULEAK_TEST_LONG=true: 100 kills.
"""

import argparse
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import torture
from torture import Failure, Setup, check_report, check_series, check_sums
from trace import Trace

TURNS = 150
CLOCK_OPTIMIZER = 1  # of enum gpuleak_clock


def wait_for_marks(pid: int, marks: int) -> None:
    """The training has noted so many marks, or it has ended."""
    facts = Path(os.environ["TORTURE_FACTS"]) / str(pid)
    while not facts.exists() or facts.read_text().count("\n") < marks:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return
        time.sleep(0.002)


def train_in_child() -> int:
    import tiny

    pid = os.fork()
    if pid == 0:
        tiny.Training().run(TURNS)
        os._exit(0)
    return pid


def be_killed(kills: int) -> None:
    """In the traced process."""
    chance = random.Random(time.time_ns())
    whole = train_in_child()
    started = time.monotonic()
    os.waitpid(whole, 0)
    length = time.monotonic() - started
    print(whole, flush=True)
    for _ in range(kills):
        pid = train_in_child()
        # Half of them at any moment of the process, half of them in the thick of the marks.
        if chance.random() < 0.5:
            time.sleep(chance.random() * length)
        else:
            wait_for_marks(pid, chance.randrange(TURNS))
            time.sleep(chance.random() * length / TURNS)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        print(pid, flush=True)
    os._exit(0)  # else it leaves an empty trace: it loaded PyTorch and used no GPU itself


def check_kill(setup: Setup, path: Path, facts: list, noted: list) -> list:
    """The trace's marks are the first ones of the whole run; what it noted itself is there."""
    trace = Trace(path)
    marks = trace.committed
    wrong = check_sums(trace) + check_report(setup, path) if marks else []
    if not len(noted) <= marks <= len(noted) + 1:
        wrong.append(f"{marks} marks, and the program noted {len(noted)}")
    if marks and not noted and trace.state["clock"] != CLOCK_OPTIMIZER:
        return wrong  # killed between the end of the first backward pass, a mark until then, and step()
    return wrong + check_series(trace, facts[:marks], killed=False)


def check(setup: Setup, kills: int) -> str:
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        folder = Path(scratch)
        (folder / "facts").mkdir()
        env = torture.environment(setup, {}, folder, [setup.tracer])
        env["PYTHONPATH"] += f":{torture.HERE.parent / 'programs'}"
        command = [str(setup.python), __file__, "--be-killed", str(kills)]
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=500
        )
        if done.returncode or done.stderr:
            raise Failure(f"exit {done.returncode}: {done.stderr[-2000:]}")
        pids = [int(line) for line in done.stdout.split()]
        facts = torture.read_facts(folder / "facts")
        traces = {Trace(path).run["pid"]: path for path in folder.glob("trace*")}
        if len(facts[pids[0]]) != TURNS or len(pids) != kills + 1:
            raise Failure("the whole run is not whole")
        marks = []
        for pid in pids:
            if pid not in traces:
                if facts.get(pid):
                    raise Failure("marks, but no trace")
                continue  # before its first event
            wrong = check_kill(setup, traces[pid], facts[pids[0]], facts.get(pid, []))
            if wrong:
                raise Failure("\n".join(wrong))
            marks.append(Trace(traces[pid]).committed)
    if kills >= 20 and len(set(marks)) < 5:
        raise Failure(f"killed at marks {marks}: not at random moments")
    return f"{kills} kills, at marks {sorted(marks[1:])}"


def main() -> None:
    long = os.environ.get("GPULEAK_TEST_LONG") == "true"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=torture.ROOT / "build")
    parser.add_argument("--python", type=Path)
    parser.add_argument("--kills", type=int, default=100 if long else 20)
    parser.add_argument("--be-killed", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be_killed is not None:
        be_killed(options.be_killed)
        return
    python = options.python or options.build / "venv/bin/python"
    setup = Setup(options.build.resolve(), python.absolute())
    torture.report_to_ctest(setup, lambda: check(setup, options.kills))


if __name__ == "__main__":
    main()
