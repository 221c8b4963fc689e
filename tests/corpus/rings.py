#!/usr/bin/env python3
"""What the ring overwrote changes no verdict: a program with a small ring and with a large one.

Both runs have the same room for statistics. The reports must be equal but for times, the
process's number, its resident size (the ring is in it) and how many events are kept. The small ring is smaller than its events, the
large one keeps them all: 128 MiB, or 1 GiB with GPULEAK_TEST_LONG=true.
"""

import os
import shutil
import tempfile
from pathlib import Path

from expectation import read_headers
from forked import Runs
from harness import Failure, arguments, each_program, setup_from, tail, test_main

MIB = 1 << 20
STATISTICS = 8 * MIB
PER_RUN = {
    "path", "pid", "started", "seconds", "events_kept", "full_in_seconds", "full_in_seconds_range", "resident",
}


def comparable(report):
    """Without what differs between any two runs of a program."""
    if isinstance(report, dict):
        return {name: comparable(value) for name, value in report.items() if name not in PER_RUN}
    if isinstance(report, list):
        return [comparable(value) for value in report]
    return report


def differences(small, large, where="report"):
    if isinstance(small, dict) and isinstance(large, dict):
        names = sorted({*small, *large})
        parts = [differences(small.get(n), large.get(n), f"{where}.{n}") for n in names]
        return sum(parts, [])
    if isinstance(small, list) and isinstance(large, list) and len(small) == len(large):
        pairs = enumerate(zip(small, large))
        return sum((differences(a, b, f"{where}[{i}]") for i, (a, b) in pairs), [])
    return [] if small == large else [f"{where}: {small!r} and {large!r}"]


def scratch(bytes_needed: int) -> str:
    """In memory where there is room: a large ring is filled with zeros at the start."""
    shared = Path("/dev/shm")
    if os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 2 * bytes_needed:
        return str(shared)
    return tempfile.gettempdir()


def settings(ring: int) -> dict:
    return {"GPULEAK_RING": str(ring), "GPULEAK_SIZE": str(STATISTICS + ring)}


def run(setup, runs, program: Path, ring: int) -> tuple:
    headers = read_headers(program)
    with tempfile.TemporaryDirectory(prefix="gpuleak-", dir=runs.parent) as folder:
        out = Path(folder) / "trace.bin"
        machine = {name: headers.get(name) for name in ("memory", "devices")}
        done = runs.execute([program], out, **machine)
        if not out.exists():
            raise Failure(f"no trace; exit {done.returncode}\n{tail(done.stderr)}")
        report, code = setup.read(out, "--all")
        if out.stat().st_size != STATISTICS + ring:
            raise Failure(f"the trace has {out.stat().st_size} bytes")
    return report, code


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--small", type=float, default=1 / 16, help="MiB of the small ring (default: 1/16)")
    large = 1024 if os.environ.get("GPULEAK_TEST_LONG") == "true" else 128
    parser.add_argument("--large", type=int, default=large, help="MiB of the large one")
    parser.add_argument("program", type=Path, nargs="+")
    options = parser.parse_args()
    setup, sizes = setup_from(options), [int(options.small * MIB), options.large * MIB]

    def check(program: Path) -> None:
        small, small_code = run(setup, with_small, program, sizes[0])
        large, large_code = run(setup, with_large, program, sizes[1])
        events, kept = large["trace"]["events"], small["trace"]["events_kept"]
        if kept >= events:
            raise Failure(f"{program.name}: the small ring kept all {events} events: nothing was tested")
        wrong = differences(comparable(small), comparable(large))
        if small_code != large_code:
            wrong.append(f"exit codes {small_code} and {large_code}")
        if wrong:
            raise Failure("\n".join([f"{program.name}: {len(wrong)} differences", *wrong[:10]]))
        print(f"{program.name}: {large['verdict']}, the same with {kept} of {events} events")

    with_small, with_large = (Runs(setup, settings(size), scratch(size)) for size in sizes)
    with with_small, with_large:
        each_program(options.program, check)


if __name__ == "__main__":
    test_main(main)
