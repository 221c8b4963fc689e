"""Where the built programs are, and how a corpus program is run under them."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

SKIP = 77
ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 250
TORCHRUN = "-m torch.distributed.run --standalone --nproc-per-node".split()


class Skip(Exception):
    """The test can't run here; the text says why."""


class Failure(Exception):
    """The test failed; the text says how."""


class Setup:
    """The build folder, the Python with PyTorch, and whether a real GPU is used."""

    def __init__(self, build: Path, python: Path, simulated: bool):
        self.build, self.python, self.simulated = build, python, simulated
        self.gpuleak, self.report = build / "gpuleak", build / "gpuleak-report"
        for program in (self.gpuleak, self.report, python):
            if not program.exists():
                raise Skip(f"{program} is not there; scripts/setup.sh makes it")

    def run_command(
        self, command: list, trace=True, memory=None, devices=None, ranks=0, before=()
    ) -> list:
        """`gpuleak run ... -- BEFORE python COMMAND`; memory and devices: the simulated GPU's;
        ranks: so many processes, started by torchrun."""
        words = [str(self.gpuleak), "run"]
        if ranks:
            command, devices = [*TORCHRUN, ranks, *command], str(ranks)
        if self.simulated:
            words.append("--sim")
            words += ["--memory", memory] if memory else []
            words += ["--devices", devices] if devices else []
        if not trace:
            words.append("--no-trace")
        return [*words, "--", *before, str(self.python), *map(str, command)]

    def execute(self, command: list, out: Path, env: dict = {}) -> subprocess.CompletedProcess:
        """Runs the command in the folder of `out`, which a trace goes to, if one is made."""
        environment = {**os.environ, "GPULEAK_OUT": str(out), **env}
        return subprocess.run(
            command,
            env=environment,
            cwd=out.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )

    def bench_command(self, bench: Path, target: Path) -> list:
        return self.run_command([bench, "--json", target])

    def read(self, *words) -> tuple:
        """JSON and exit code of `gpuleak-report WORDS`: traces and options."""
        done = subprocess.run(
            [str(self.report), "--json", *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        if done.returncode not in (0, 1, 3):
            raise Failure(
                f"gpuleak-report exits {done.returncode}: {done.stderr.strip() or 'no message'}"
            )
        return json.loads(done.stdout), done.returncode


def arguments(text: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", help="build folder (default: build)"
    )
    parser.add_argument("--python", type=Path, help="Python with PyTorch (default: build/venv)")
    parser.add_argument("--gpu", action="store_true", help="on the real GPU, not the simulated one")
    return parser


def setup_from(options: argparse.Namespace) -> Setup:
    build = options.build.resolve()
    python = options.python or build / "venv/bin/python"
    if not python.exists() and not options.python:
        python = ROOT / "build/venv/bin/python"
    return Setup(build, python.absolute(), not options.gpu)


def each_program(programs: list, test) -> None:
    """test(program) of all of them, also after a failure."""
    failures = []
    for program in programs:
        try:
            test(program.resolve())
        except Failure as reason:
            failures.append(str(reason))
    if failures:
        raise Failure("\n".join(failures))


def tail(text: str, lines: int = 15) -> str:
    return "\n".join("    | " + line for line in text.strip().splitlines()[-lines:])


def test_main(test) -> None:
    """Exits 0, 1 or 77 as test() returns, raises Failure or raises Skip."""
    try:
        test()
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIP)
    except subprocess.TimeoutExpired as late:
        print(f"no end within {late.timeout} s: {' '.join(map(str, late.cmd))}")
        sys.exit(1)
    except Failure as reason:
        print(reason)
        sys.exit(1)
