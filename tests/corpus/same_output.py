#!/usr/bin/env python3
"""A program with the tracer preloaded does what it does without: same output, same exit code,
same totals.

The program must print the totals itself; see same/. The report is left out of it: the tracer is
preloaded by hand.
"""

import subprocess
import tempfile
from pathlib import Path

from expectation import read_headers
from harness import Failure, arguments, setup_from, tail, test_main


def tracer_path(setup) -> str:
    done = subprocess.run([str(setup.gpuleak), "lib"], capture_output=True, text=True, timeout=100)
    path = done.stdout.strip()
    if done.returncode or not Path(path).is_file():
        raise Failure(f"gpuleak lib exits {done.returncode} and says {path or done.stderr}")
    return path


def run_once(setup, program: Path, headers: dict, out: Path, traced: bool):
    """Under the launcher without its tracer; `env` preloads the tracer into the program alone."""
    preload = ["env", f"LD_PRELOAD={tracer_path(setup)}"] if traced else ["env"]
    command = setup.run_command(
        [program], trace=False, memory=headers.get("memory"), before=preload
    )
    return setup.execute(command, out)


def split_stderr(text: str) -> tuple:
    """The program's own lines, and the tracer's."""
    lines = text.splitlines()
    ours = [line for line in lines if line.startswith("gpuleak: ")]
    return [line for line in lines if line not in ours], ours


def compare(name: str, plain, traced, uses_gpu: bool) -> list:
    stderr, ours = split_stderr(traced.stderr)
    pairs = [
        ("exit code", plain.returncode, traced.returncode),
        ("stdout", plain.stdout, traced.stdout),
        ("stderr", plain.stderr.splitlines(), stderr),
        # A process with PyTorch and no GPU event is told that its trace is empty.
        ("lines of gpuleak's", 0 if uses_gpu else 1, len(ours)),
    ]
    return [f"{name}, {what}\n  wanted: {a!r}\n  got:    {b!r}" for what, a, b in pairs if a != b]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("program", type=Path)
    options = parser.parse_args()
    setup = setup_from(options)
    program = options.program.resolve()
    headers = read_headers(program)

    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        out = Path(scratch) / "trace.bin"
        plain = run_once(setup, program, headers, out, traced=False)
        if out.exists():
            raise Failure("a trace was written without the tracer: this test cannot see")
        traced = run_once(setup, program, headers, out, traced=True)
        uses_gpu = "cuda" in program.read_text()
        wrong = compare(program.name, plain, traced, uses_gpu)
        if uses_gpu and not out.exists():
            wrong.append(f"{program.name}: no trace, so the tracer was not there")
    expected = int(headers.get("exit", 0))
    if plain.returncode != expected or not plain.stdout:
        wrong.append(
            f"{program.name}: exit {expected} and some output without the tracer; "
            f"got {plain.returncode}\n{tail(plain.stdout + plain.stderr)}"
        )
    if wrong:
        raise Failure("\n".join(wrong))
    print(f"{program.name}: the same with and without, exit {plain.returncode}")


if __name__ == "__main__":
    test_main(main)
