#!/usr/bin/env python3
"""Runs a torture program with and without the tracer: it must do the same, and its traces be right.

Compared are standard output, standard error, exit code, and PyTorch's totals at each mark. Each
trace must have these totals at its marks, and its sites and births must add up to them.

Lines of a program's head:

    # exit: 3                  expected exit code; -9 for a signal (default 0)
    # memory: 1G               size of the simulated GPU
    # python: -X dev           options for Python
    # signal: INT              sent once the program has printed "ready"
    # traces: 0                traces expected (default: one per process that notes its marks)
    # marks: 12                marks of a program that doesn't note them
    # killed                   marks may be missing in its notes
    # says: some words         a line that the tracer adds to standard error
    # needs: greenlet          skipped where this module or program isn't installed
    # preload: jemalloc        another library, before the tracer and then after it (asan: before)
"""

import argparse
import glob
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "programs"))
from trace import Trace  # noqa: E402

SKIP = 77
TIMEOUT_S = 250
HEADER = re.compile(
    r"^# (exit|memory|python|signal|traces|marks|killed|says|needs|preload)(?:: +(.+?))?\s*$", re.M
)
PRELOADS = {
    "jemalloc": ["/usr/lib/*/libjemalloc.so.2", "/usr/lib64/libjemalloc.so.2"],
    "asan": ["/usr/lib/gcc/*/*/libasan.so"],
}


class Skip(Exception):
    """The test can't run here; the text says why."""


class Failure(Exception):
    """The test failed; the text says how."""


@dataclass
class Setup:
    build: Path
    python: Path
    writer: str = "auto"  # GPULEAK_WRITER

    @property
    def tracer(self) -> Path:
        return self.build / "libgpuleak.so"

    @property
    def report(self) -> Path:
        return self.build / "gpuleak-report"

    @property
    def simulated_gpu(self) -> Path:
        return self.build / "sim/libgpuleak-sim.so"


@dataclass
class Outcome:
    """What one run did."""

    code: int
    out: str
    err: str
    facts: dict = field(default_factory=dict)  # pid -> [(allocated, reserved) at each mark]
    traces: list = field(default_factory=list)
    leftovers: list = field(default_factory=list)


def headers_of(program: Path) -> dict:
    found = HEADER.findall(program.read_text())
    return {name: value or "yes" for name, value in found}


def environment(setup: Setup, headers: dict, folder: Path, preload: list) -> dict:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LD_AUDIT": str(setup.simulated_gpu),
        "PYTHONPATH": f"{HERE}:{setup.build / 'torture-tools'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TORTURE_FACTS": str(folder / "facts"),
        "OMP_NUM_THREADS": "1",
        "GPULEAK_SIZE": "8M",
        "GPULEAK_WRITER": setup.writer,
    }
    if preload:
        env["LD_PRELOAD"] = ":".join(map(str, preload))
    if "preload" in headers:
        # The auditing library of the simulated GPU leaves others little of it.
        env["GLIBC_TUNABLES"] = "glibc.rtld.optional_static_tls=8192"
        env["ASAN_OPTIONS"] = "detect_leaks=0"
    if "memory" in headers:
        env["GPULEAK_SIM_MEMORY"] = headers["memory"]
    return env


def begin_child() -> None:
    """No core dumps, and signals as a shell's foreground job has them."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def communicate(process: subprocess.Popen, headers: dict) -> tuple:
    """Its output; sends the signal of the header when it says that it is ready."""
    first = ""
    if "signal" in headers:
        first = process.stdout.readline()
        if first != "ready\n":
            process.kill()
            raise Failure(f"it said {first!r}: {process.communicate()[1][-2000:]}")
        process.send_signal(getattr(signal, "SIG" + headers["signal"]))
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        process.kill()
        raise Failure(f"no end within {TIMEOUT_S} s") from None
    return first + out, err


def read_facts(folder: Path) -> dict:
    return {
        int(path.name): [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
        for path in folder.iterdir()
    }


def run(setup: Setup, program: Path, headers: dict, preload: list, extra: list) -> tuple:
    """One run in a folder of its own, which the caller has to clean up."""
    scratch = tempfile.TemporaryDirectory(prefix="gpuleak-")
    folder = Path(scratch.name)
    (folder / "facts").mkdir()
    words = [str(setup.python), *headers.get("python", "").split(), str(program), *extra]
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment(setup, headers, folder, preload),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=begin_child,
    )
    out, err = communicate(process, headers)
    outcome = Outcome(process.returncode, out, err, read_facts(folder / "facts"))
    outcome.traces = sorted(folder.glob("trace*"))
    outcome.leftovers = [path.name for path in folder.glob(".trace*")]
    return outcome, scratch


def normal(text: str) -> str:
    """Without what differs between any two runs: addresses, thread and process numbers."""
    text = re.sub(r"0x[0-9a-f]+", "0x-", text)
    text = re.sub(r"/tmp/gpuleak-\w+", "/tmp/-", text)
    return re.sub(r"\b(pid|process|thread)[ =]\d+", r"\1 -", text, flags=re.I)


def take_line(text: str, words: str) -> str:
    """Without the one line of the tracer that has these words."""
    lines = text.splitlines(keepends=True)
    ours = [line for line in lines if line.startswith("gpuleak: ") and words in line]
    if len(ours) != 1:
        raise Failure(f"expected one line with {words!r}, standard error is {text!r}")
    return "".join(line for line in lines if line is not ours[0])


def compare_runs(plain: Outcome, traced: Outcome, headers: dict) -> list:
    wrong = []
    if "says" in headers:
        traced.err = take_line(traced.err, headers["says"])
    for what in ("code", "out", "err"):
        a, b = getattr(plain, what), getattr(traced, what)
        if isinstance(a, str):
            a, b = normal(a), normal(b)
        if a != b:
            wrong.append(f"{what}\n  without: {a!r}\n  with:    {b!r}")
    return wrong


def compare_facts(plain: Outcome, traced: Outcome) -> list:
    """PyTorch's totals at the marks are the same, process by process."""
    a, b = sorted(plain.facts.values()), sorted(traced.facts.values())
    if a == b:
        return []
    return [f"PyTorch's totals differ between the runs: {a} without, {b} with"]


def check_sums(trace: Trace) -> list:
    wrong = []
    sites = trace.sites()
    for number, device in trace.devices().items():
        own = [s for s in sites if s["device"] == number and s["source"] == 1]
        held = sum(site["live_bytes"] for site in own)
        if held != device["allocated"]:
            wrong.append(f"device {number}: sites hold {held} of {device['allocated']} bytes")
    for site in sites:
        evidence = trace.evidence(site)
        if evidence and sum(b[2] for b in evidence["births"]) != site["live_bytes"]:
            wrong.append(f"site {site['number']}: births don't add up to {site['live_bytes']}")
    for name in ("dropped_events", "dropped_sites", "dropped_blocks", "unknown_frees"):
        if trace.state[name]:
            wrong.append(f"{name} is {trace.state[name]}")
    return wrong


def check_series(trace: Trace, facts: list, killed: bool) -> list:
    """The totals at each mark are PyTorch's."""
    marks = trace.committed
    if not len(facts) <= marks <= len(facts) + killed:
        return [f"{marks} marks, and the program noted {len(facts)}"]
    device = trace.devices().get(0)
    rows = device["timeline"] if device else []
    got = [(row["allocated"], row["reserved"]) for row in rows]
    if len(got) != marks or got[: len(facts)] != facts:
        at = next((i for i, pair in enumerate(zip(got, facts)) if pair[0] != pair[1]), len(got))
        return [
            f"mark {at + 1}: allocated and reserved {got[at : at + 1]}, "
            f"PyTorch says {facts[at : at + 1]}"
        ]
    return []


def check_report(setup: Setup, path: Path) -> list:
    done = subprocess.run(
        [str(setup.report), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode in (0, 1, 3):
        return []
    return [f"gpuleak-report {path.name} exits {done.returncode}: {done.stderr}"]


def check_trace(setup: Setup, path: Path, headers: dict, traced: Outcome) -> list:
    trace = Trace(path)
    wrong = check_sums(trace) + check_report(setup, path)
    facts = traced.facts.get(trace.run["pid"])
    if facts is not None and "marks" not in headers:
        wrong += check_series(trace, facts, "killed" in headers)
    if "marks" in headers and trace.committed != int(headers["marks"]):
        wrong.append(f"{trace.committed} marks, expected {headers['marks']}")
    return [f"{path.name}: {what}" for what in wrong]


def check_traces(setup: Setup, headers: dict, traced: Outcome) -> list:
    wrong = [what for path in traced.traces for what in check_trace(setup, path, headers, traced)]
    expected = int(headers.get("traces", len(traced.facts) or 1))
    if len(traced.traces) != expected:
        names = [path.name for path in traced.traces]
        wrong.append(f"{expected} traces expected, there are {names}")
    if traced.leftovers:
        wrong.append(f"left behind: {traced.leftovers}")
    return wrong


def orders(setup: Setup, headers: dict) -> list:
    """(preload without the tracer, preload with it), one for each order."""
    if "preload" not in headers:
        return [([], [setup.tracer])]
    patterns = PRELOADS[headers["preload"]]
    found = [path for pattern in patterns for path in glob.glob(pattern)]
    if not found:
        raise Skip(f"{headers['preload']} isn't installed")
    other = found[0]
    both = [([other], [other, setup.tracer]), ([other], [setup.tracer, other])]
    return both[:1] if headers["preload"] == "asan" else both  # which insists on being the first


def has_tool(setup: Setup, name: str) -> bool:
    """A module, or a program that came with one."""
    if (setup.build / "torture-tools/bin" / name).exists():
        return True
    return subprocess.run(
        [str(setup.python), "-c", f"import {name}"],
        env={**os.environ, "PYTHONPATH": str(setup.build / "torture-tools")},
        stderr=subprocess.DEVNULL,
    ).returncode == 0


def torture(setup: Setup, program: Path, extra: list) -> str:
    headers = headers_of(program)
    if "needs" in headers and not has_tool(setup, headers["needs"]):
        raise Skip(f"{headers['needs']} isn't installed")
    plain = None
    for without, preload in orders(setup, headers):
        if plain is None:
            plain, scratch = run(setup, program, headers, without, extra)
            scratch.cleanup()
        expected = int(headers.get("exit", 0))
        if plain.code != expected:
            raise Failure(
                f"without the tracer it exits {plain.code}, expected {expected}\n"
                f"{plain.out[-1000:]}{plain.err[-2000:]}"
            )
        traced, scratch = run(setup, program, headers, preload, extra)
        with scratch:
            wrong = compare_runs(plain, traced, headers) + check_traces(setup, headers, traced)
            if not {"killed", "marks"} & set(headers):
                wrong += compare_facts(plain, traced)
        if wrong:
            raise Failure("\n".join(wrong))
    return f"{program.name}: the same with and without the tracer"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--python", type=Path, help="Python with PyTorch (default: build/venv)")
    parser.add_argument("--writer", default="auto", help="GPULEAK_WRITER of the programs")
    parser.add_argument("program", type=Path)
    parser.add_argument("extra", nargs="*", help="arguments for the program")
    options = parser.parse_args()
    python = options.python or options.build / "venv/bin/python"
    setup = Setup(options.build.resolve(), python.absolute(), options.writer)
    program = options.program.resolve()
    report_to_ctest(setup, lambda: torture(setup, program, options.extra))


def report_to_ctest(setup: Setup, test) -> None:
    """Runs the test, prints what it says, and exits with 0, 1 or 77."""
    try:
        for path in (setup.python, setup.tracer, setup.simulated_gpu):
            if not path.exists():
                raise Skip(f"{path} is not there")
        print(test())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIP)
    except Failure as reason:
        print(f"failed: {reason}")
        sys.exit(1)


if __name__ == "__main__":
    main()
