#!/usr/bin/env python3
"""Runs training programs of well-known libraries on the simulated GPU, under the tracer, and
compares the reports with the programs' comments: those of tests/corpus/expectation.py and

    # expect: clean             any verdict of a program that keeps nothing; no LEAK, no GROWING
    # needs: lightning, timm    packages of scripts/requirements-real.txt
    # launch: MODULE ARG...     the module starts the program: python -m MODULE ARG... PROGRAM
    # ranks: 2                  so many traces, that of rank N about GPU N

Several programs are forked from one Python; they need no library and no launcher.

Exit 0: as expected. 1: not. 77: something it needs is not there.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "corpus"))
import harness  # noqa: E402
from forked import Runs  # noqa: E402
from expectation import Expectation, read_expectation  # noqa: E402
from harness import (  # noqa: E402
    ROOT, Failure, Setup, Skip, arguments, each_program, setup_from, tail, test_main,
)
from run import ALARMS, check_report  # noqa: E402

CLEAN = ("JUMP", "SAWTOOTH", "PLATEAU", "NOISY", "STABLE")
NEWEST = "2.15.0"
OWN_HEADER = re.compile(r"^# (needs|launch|ranks): +(.+?)\s*$", re.MULTILINE)
harness.TIMEOUT_S = 280

WHAT_IS_THERE = """
import importlib.metadata, importlib.util, sys
print(importlib.metadata.version("torch").split("+")[0])
print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))
"""


def own_headers(program: Path) -> dict:
    return dict(OWN_HEADER.findall(program.read_text(encoding="utf-8")))


def python_for(options) -> Path:
    """Of 2.15.0 the Python that sees the libraries, or the one with PyTorch alone."""
    folders = [options.build.resolve(), ROOT / "build"]
    venvs = ("venv-real", "venv") if options.torch == NEWEST else (f"venv-{options.torch}",)
    names = [folder / venv / "bin/python" for venv in venvs for folder in folders]
    return next((name for name in names if name.exists()), names[-1])


def look_for(setup: Setup, wanted: str, needs: list) -> None:
    """Skips where the PyTorch is another one or a library is missing."""
    done = subprocess.run(
        [str(setup.python), "-c", WHAT_IS_THERE, *needs], capture_output=True, text=True
    )
    version, missing = (done.stdout.splitlines() or ["none"])[0], done.stdout.splitlines()[1:]
    if done.returncode or version != wanted:
        raise Skip(f"needs PyTorch {wanted}; {setup.python} has {version}")
    if missing[0]:
        raise Skip(f"needs {missing[0]}; scripts/setup.sh --tests installs it")


def command_for(program: Path, headers: dict) -> list:
    launch = headers.get("launch", "").split()
    return ["-m", *launch, program] if launch else [program]


def rank_of(report: dict) -> int:
    return report["trace"]["rank"] or 0


def check_traces(setup: Setup, traces: list, want: Expectation, ranks: int) -> list:
    """What is wrong with the traces of one run, each of a rank and of its own GPU."""
    wrong, seen = [], []
    for trace in traces:
        report, code = setup.read(trace)
        if not report["devices"] and len(traces) > ranks:
            continue  # a launcher or a compiler: PyTorch was loaded, nothing allocated
        seen.append((rank_of(report), report["verdict"], report["trace"]["steps"]))
        wrong += check_report(report, code, want, rank_of(report))
    if sorted(rank for rank, _, _ in seen) != list(range(ranks)):
        wrong.append(f"a trace of each of {ranks} ranks; got {seen}")
    if not wrong:
        print("; ".join(f"{verdict}, {steps} steps" for _, verdict, steps in sorted(seen)))
    return wrong


def offline(scratch: str) -> dict:
    """Nothing comes from the network, and nothing of an earlier run is used."""
    return {
        "GPULEAK_OUT": scratch + "/",  # the default names there, with the ranks in them
        "HF_HOME": scratch,
        "HF_HUB_OFFLINE": "1",
        "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "inductor"),
        "TRITON_CACHE_DIR": os.path.join(scratch, "triton"),
        "TOKENIZERS_PARALLELISM": "false",
    }


def run_program(setup: Setup, want: Expectation, headers: dict, folder: Path, runs=None) -> list:
    begun = time.monotonic()
    machine = {"memory": want.memory, "devices": want.devices}
    if runs:
        done = runs.execute([want.path], folder / "trace.bin", **machine)
    else:
        command = setup.run_command(command_for(want.path, headers), **machine)
        done = setup.execute(command, folder / "trace.bin", offline(str(folder)))
    code = want.exit + 100 if want.exit and not runs else 0
    if done.returncode != code:
        raise Failure(
            f"{want.path.name}: exit code {code}; got {done.returncode}\n"
            f"{tail(done.stdout + done.stderr, 60)}"
        )
    print(f"{want.path.name}, {time.monotonic() - begun:.0f} s: ", end="")
    return check_traces(setup, sorted(folder.glob("*.bin")), want, int(headers.get("ranks", 1)))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--torch", default=NEWEST, help=f"PyTorch version (default: {NEWEST})")
    parser.add_argument("program", type=Path, nargs="+")
    options = parser.parse_args()
    options.python = options.python or python_for(options)
    setup = setup_from(options)

    def check(program: Path) -> None:
        want, headers = read_expectation(program), own_headers(program)
        if want.verdicts == ("clean",):
            want.verdicts, want.forbid = CLEAN, ALARMS
        look_for(setup, options.torch, headers.get("needs", "").replace(",", " ").split())
        forked = runs if len(options.program) > 1 else None
        with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
            wrong = run_program(setup, want, headers, Path(scratch).resolve(), forked)
        if wrong:
            raise Failure(f"{program.name}: expected\n  " + "\n  ".join(wrong))

    with Runs(setup) as runs:
        each_program(options.program, check)


if __name__ == "__main__":
    test_main(main)
