"""A folder with the launcher and stand-ins for tracer, reader and simulated GPU.

The programs that the launcher runs there write their "traces" themselves; the reader is a
script that notes how it was called and exits as told.
"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

LAUNCHER = Path(sys.argv[1])
LIBRARY = Path(sys.argv[2])

REPORTER = """#!/bin/sh
printf '%s\\n' "$*" >> "$REPORT_CALLS"
case "$*" in
*--json*) echo '{"schema": "made up"}' ;;
*) echo THE REPORT ;;
esac
[ "$REPORT_SIGNAL" ] && kill -s "$REPORT_SIGNAL" $$
exit "${REPORT_CODE:-0}"
"""

# A program: an empty file, one section "run", and in it why nothing was seen.
HEADER = struct.Struct("<8sHHIIIQ")
SECTION = struct.Struct("<IIQQ")
RUN_KIND, RUN_SIZE, RUN_OFFSET, EMPTY_WHY, RUN_STARTED = 1, 104, 4096, 92, 96


def trace_bytes(empty: bool = False, started: int = 0) -> bytes:
    """As much of a trace as the launcher looks at."""
    header = HEADER.pack(b"GPULEAK\0", 2, 0, HEADER.size + 64 * SECTION.size, 0x01020304, 1, 8192)
    section = SECTION.pack(RUN_KIND, RUN_SIZE, RUN_OFFSET, RUN_SIZE)
    content = bytearray(8192)
    content[: len(header) + len(section)] = header + section
    if empty:
        struct.pack_into("<I", content, RUN_OFFSET + EMPTY_WHY, 7)
    struct.pack_into("<Q", content, RUN_OFFSET + RUN_STARTED, started)
    return bytes(content)


class Place:
    """A folder with gpuleak and its stand-ins in `build`, and an empty one to run in."""

    def __init__(self, build: str = "build"):
        self.top = Path(tempfile.mkdtemp(prefix="launcher-"))
        self.build = self.top / build
        self.here = self.top / "here"
        self.temporary = self.top / "tmp"
        for folder in (self.build / "sim/lib", self.here, self.temporary):
            folder.mkdir(parents=True)
        shutil.copy(LAUNCHER, self.build / "gpuleak")
        shutil.copy(LIBRARY, self.build / "libgpuleak.so")
        shutil.copy(LIBRARY, self.build / "sim/libgpuleak-sim.so")
        shutil.copy(LIBRARY, self.build / "sim/lib/libcudart.so.13")
        reporter = self.build / "gpuleak-report"
        reporter.write_text(REPORTER)
        reporter.chmod(0o755)
        (self.top / "whole").write_bytes(trace_bytes())
        (self.top / "empty").write_bytes(trace_bytes(empty=True))
        self.environment = {
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self.temporary),
            "REPORT_CALLS": str(self.top / "calls"),
            "WHOLE": str(self.top / "whole"),
            "EMPTY": str(self.top / "empty"),
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)

    def gpuleak(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.build / "gpuleak", *arguments],
            cwd=self.here,
            env={**self.environment, **environment},
            input="typed\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )

    def run(self, script: str, *options: str, **environment: str) -> subprocess.CompletedProcess:
        """Run a shell script under `gpuleak run`."""
        return self.gpuleak("run", *options, "--", "sh", "-c", script, **environment)

    def calls(self) -> list:
        """How the reader was called, a line each."""
        calls = self.top / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def reported(self) -> list:
        """Names of the traces in the reader's first call."""
        calls = self.calls()
        traces = calls[0].split("-- ", 1)[1].split() if calls else []
        return [Path(path).name for path in traces]

    def names(self) -> list:
        return sorted(path.name for path in self.here.iterdir())


WRITE = 'cp "$WHOLE" trace.bin; '


def equal(actual, expected):
    assert actual == expected, f"{actual!r}, expected {expected!r}"


def run_tests(names: dict) -> int:
    """The tests among the names of a module, or those that the command line asks for."""
    wanted = sys.argv[3:]
    tests = {name: test for name, test in names.items() if name.startswith("test_")}
    failed = 0
    for name, test in tests.items():
        if wanted and name not in wanted:
            continue
        try:
            test()
        except Exception:  # noqa: BLE001 - each test is told of
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc()
    print(f"{len(tests)} tests, {failed} failed")
    return 1 if failed else 0
