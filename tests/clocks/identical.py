#!/usr/bin/env python3
"""What is counted before the first optimizer step leaves nothing behind: the statistics are those
of a run in which nothing but the optimizer was looked at (GPULEAK_CLOCK=given).

Exit 0: as expected. 1: not. 77: PyTorch or the built programs are not there.
"""

import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "corpus"), str(TESTS / "programs")]

from forked import Runs  # noqa: E402
from harness import Failure, arguments, setup_from, tail, test_main  # noqa: E402
from trace import Trace  # noqa: E402


def without(record: dict, *names: str) -> dict:
    return {name: value for name, value in record.items() if name not in names}


def statistics(trace: Trace) -> dict:
    """All that a verdict is made of, times aside."""
    found = {"marks": trace.committed, "clock": trace.state["clock"]}
    for name in trace.state:
        if name.startswith(("dropped", "unknown", "replaced", "events", "evidence_used")):
            found[name] = trace.state[name]
    for site in trace.sites():
        found[f"site {site['number']}"] = site
        found[f"evidence of site {site['number']}"] = trace.evidence(site)
    for number, device in trace.devices().items():
        found[f"timeline {number}"] = [without(entry, "when") for entry in device["timeline"]]
        found[f"device {number}"] = without(device, "timeline", "open_when")
    found["phases"] = [without(n, "when") for n in trace.notes() if n["kind"] == 2]
    return found


# Turns of inference and backward passes before the first step: so many that levels were joined, or
# few, of which the records that are used again may keep some.
BEFORE = [(60, 30), (0, 1), (3, 2)]


def compare(runs, before: tuple) -> None:
    program = Path(__file__).with_name("before_training.py").resolve()
    found, restarts = {}, {}
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
        for clock in ("given", "auto"):
            out = Path(folder) / f"{clock}.bin"
            done = runs[clock].execute([program, *before], out)
            if not out.exists():
                raise Failure(f"no trace; exit {done.returncode}\n{tail(done.stderr)}")
            trace = Trace(out)
            found[clock] = statistics(trace)
            restarts[clock] = sum(event["kind"] == "restart" for event in trace.events())
    given, auto = found["given"], found["auto"]
    wrong = [
        f"{name}: {auto.get(name)}\n    alone: {given.get(name)}"
        for name in {**given, **auto}
        if auto.get(name) != given.get(name)
    ]
    if wrong:
        raise Failure(f"after {before}:\n" + "\n".join(wrong[:10]))
    if given["marks"] != 15 or len(given) < 60 or restarts["given"] or not restarts["auto"]:
        raise Failure(f"not what this test is for: {given['marks']} marks, {restarts} restarts")
    print(f"{len(given)} records of {given['marks']} steps are equal, {restarts['auto']} restarts")


def main() -> None:
    setup = setup_from(arguments(__doc__).parse_args())
    given, auto = (Runs(setup, {"GPULEAK_CLOCK": clock}) for clock in ("given", "auto"))
    with given, auto:
        for before in BEFORE:
            compare({"given": given, "auto": auto}, before)


if __name__ == "__main__":
    test_main(main)
