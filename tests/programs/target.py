"""Runs targets under the preloaded tracer, in a folder of their own.

A test file is a program: its functions test_...(box) are the tests, `main()` at its end runs those
named on the command line, or all.  Exit code: 0 pass, 1 fail, 77 skip.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from trace import Trace

SKIP = 77
TIMEOUT_S = 150


class Skip(Exception):
    """The test can't run here; the text says why."""


class Failure(Exception):
    """The test failed; the text says how."""


def expect(condition: bool, text: str) -> None:
    if not condition:
        raise Failure(text)


def expect_equal(what: str, got, wanted) -> None:
    if got != wanted:
        raise Failure(f"{what}: {got!r}, expected {wanted!r}")


class Box:
    """One test's folder, and the programs it runs in it."""

    def __init__(self, build: Path, folder: Path, writer: str = None, checked: bool = False):
        self.folder = folder
        self.writer = writer
        self.checked = checked
        self.tracer = build / "libgpuleak.so"
        self.report = build / "gpuleak-report"
        self.programs = build / "tests/programs"
        self.trace_path = folder / "trace.bin"
        for path in [self.report] if checked else [self.tracer, self.report]:
            expect(path.exists(), f"{path} is not built")

    def program(self, name: str) -> Path:
        path = self.programs / ("checked" if self.checked else "") / name
        if not path.exists():
            raise Skip(f"{path} is not built")
        return path

    def environment(self, traced: bool = True, **variables) -> dict:
        """Ours has no say: only PATH, and what the test sets.  None leaves a default out."""
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(self.folder), "GPULEAK_SIZE": "4M"}
        env["GPULEAK_CLOCK"] = "given"  # programs that allocate a lot before their first step
        if self.checked:
            env.update({n: v for n, v in os.environ.items() if n.endswith("SAN_OPTIONS")})
        elif traced:
            env["LD_PRELOAD"] = str(self.tracer)
        if self.writer:
            env["GPULEAK_WRITER"] = self.writer
        env.update({name: value for name, value in variables.items()})
        return {name: str(value) for name, value in env.items() if value is not None}

    def start(self, command: list, traced=True, env: dict = {}, **options) -> subprocess.Popen:
        words = [str(self.program(command[0])) if "/" not in str(command[0]) else command[0]]
        words += [str(word) for word in command[1:]]
        settings = dict(
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(traced, **env),
        )
        settings.update(options)
        return subprocess.Popen(words, **settings)

    def run(self, command: list, input: str = "", code=0, traced=True, env: dict = {}, **options):
        """Runs a program of ours to its end; `code` is the exit code expected, None: any."""
        process = self.start(command, traced, env, **options)
        try:
            out, err = process.communicate(input, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failure(f"{command} did not end within {TIMEOUT_S} s")
        if code is not None and process.returncode != code:
            raise Failure(
                f"{command} exits {process.returncode}, expected {code}\n{out[-1000:]}{err[-2000:]}"
            )
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def trace(self, name: str = "trace.bin") -> Trace:
        path = self.folder / name
        expect(path.exists(), f"no trace {name}; there are {self.files()}")
        return Trace(path)

    def files(self) -> list:
        return sorted(path.name for path in self.folder.iterdir())

    def traces(self) -> list:
        return [name for name in self.files() if "trace" in name]

    def read(self, name: str = "trace.bin") -> dict:
        """What gpuleak-report says of a trace, as JSON."""
        done = subprocess.run(
            [str(self.report), "--json", "--all", str(self.folder / name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_S,
        )
        expect(
            done.returncode in (0, 1, 3), f"gpuleak-report exits {done.returncode}: {done.stderr}"
        )
        return json.loads(done.stdout)


def run_test(test, build: Path, writer: str, checked: bool) -> int:
    name = test.__name__[len("test_") :]
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
        try:
            test(Box(build, Path(folder), writer, checked))
        except Skip as reason:
            print(f"{name}: skipped: {reason}")
            return SKIP
        except Failure as reason:
            print(f"{name}: failed: {reason}")
            return 1
        except Exception:
            print(f"{name}: failed:")
            traceback.print_exc(file=sys.stdout)
            return 1
    print(f"{name}: ok")
    return 0


def main(names: dict) -> None:
    """Runs the tests among a file's globals()."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True, help="the build folder")
    parser.add_argument("--writer", help="GPULEAK_WRITER of all programs")
    parser.add_argument("--checked", action="store_true", help="programs with the tracer in them")
    parser.add_argument("tests", nargs="*", help="names without test_; default: all")
    options = parser.parse_args()
    tests = {n[len("test_") :]: t for n, t in names.items() if n.startswith("test_")}
    chosen = options.tests or list(tests)
    build = options.build.resolve()
    results = [run_test(tests[name], build, options.writer, options.checked) for name in chosen]
    failed = any(result not in (0, SKIP) for result in results)
    sys.exit(1 if failed else SKIP if all(r == SKIP for r in results) else 0)
