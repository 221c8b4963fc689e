#!/usr/bin/env python3
"""Trains with another Python of the same version as the one with PyTorch: one whose interpreter is
part of its executable, as Debian's, or comes as a shared library, as in a pyenv or conda.

    linked.py --build BUILD static|shared PROGRAM

Exit codes and comments of PROGRAM: as for check.py.  77: there is no such Python here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from agents import is_static  # noqa: E402
from check import arguments, own_headers, python_for, run_program  # noqa: E402
from check import Failure, Skip, read_expectation, setup_from, test_main  # noqa: E402

ASK = """
import importlib.util, os, sys
print("%d.%d" % sys.version_info[:2])
torch = importlib.util.find_spec("torch")
print(torch and os.path.dirname(torch.submodule_search_locations[0]))
"""


def find(version: str, static: bool) -> Path:
    """The wheels are for one version."""
    named = os.environ.get("GPULEAK_PYFRAMES_PYTHONS", "").split(":")
    names = [f"python{version}", "python3", f"/usr/bin/python{version}", "/usr/bin/python3", *named]
    for path in filter(None, map(shutil.which, names)):
        done = subprocess.run([path, "-c", ASK], capture_output=True, text=True)
        if done.stdout.split("\n")[0] == version and is_static(path) == static:
            return Path(path)
    kind = "in its executable" if static else "in a shared library"
    raise Skip(f"no Python {version} with the interpreter {kind}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("kind", choices=("static", "shared"))
    parser.add_argument("program", type=Path)
    options = parser.parse_args()
    options.torch = "2.15.0"
    with_torch = options.python or python_for(options)
    if not with_torch.exists():
        raise Skip(f"{with_torch} is not there; scripts/setup.sh makes it")
    version, packages = subprocess.run(
        [str(with_torch), "-c", ASK], capture_output=True, text=True, check=True
    ).stdout.split()
    options.python = find(version, options.kind == "static")
    setup = setup_from(options)
    os.environ["PYTHONPATH"] = packages
    print(f"{options.python}, {options.kind}, ", end="")
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        want = read_expectation(options.program.resolve())
        wrong = run_program(setup, want, own_headers(options.program), Path(scratch).resolve())
    if wrong:
        raise Failure(f"{options.program.name}: expected\n  " + "\n  ".join(wrong))


if __name__ == "__main__":
    test_main(main)
