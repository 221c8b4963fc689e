#!/usr/bin/env python3
"""A report of 10^6 steps and 10^5 sites takes a second of a core and 500 MiB.

    big.py BUILD_BIG GPULEAK_REPORT

CPU time, so that what else the machine does matters little.
"""

import os
import subprocess
import sys
import tempfile

SECONDS, MIB = 1.0, 500
STEPS, SITES = 1_000_000, 100_000


def run(command: list, out: str) -> tuple:
    """Seconds of CPU and MiB at most; the least of three runs."""
    used = []
    for _ in range(3):
        with open(out, "wb") as file:
            child = subprocess.Popen(command, stdout=file)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            sys.exit(f"{command} exits {child.returncode}")
        used.append((usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    return min(used)


def main() -> int:
    failed = False
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
        trace, out = os.path.join(folder, "big.bin"), os.path.join(folder, "out")
        for holding in (SITES // 10, SITES):
            subprocess.run([sys.argv[1], str(SITES), str(holding), trace], check=True)
            for options in ([], ["--json"], ["--peak"]):
                seconds, mib = run([sys.argv[2], *options, trace], out)
                good = seconds <= SECONDS and mib <= MIB
                failed |= not good
                print(f"{SITES} sites, {holding} hold memory, {' '.join(options) or 'text'}: "
                      f"{seconds:.2f} s, {mib:.0f} MiB{'' if good else '  TOO MUCH'}")
            with open(out, "rb") as file:
                text = file.read(2000).decode(errors="replace")
            if f"{STEPS:,} steps" not in text:
                failed = True
                print(f"no report of {STEPS} steps: {text[:300]}")
            os.unlink(trace)
    return failed


if __name__ == "__main__":
    sys.exit(main())
