#!/usr/bin/env python3
"""`gpuleak check --sim` lists what the installed PyTorch imports: functions.py GPULEAK SIM PYTHON"""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from check import expect, expect_equal, result

STATES = ("simulated", "not supported", "missing")


def listed(gpuleak: Path, python: str, *options: str) -> tuple[int, str, dict[str, dict]]:
    """Exit code, first line, and the functions by library and state."""
    done = subprocess.run([gpuleak, "check", "--sim", *options, python], capture_output=True,
                          text=True)
    first, *lines = done.stdout.splitlines() or [done.stderr]
    libraries: dict[str, dict] = {}
    for line in lines:
        words = line.split()
        if not line.startswith("    "):
            row = {state: [] for state in STATES}
            libraries[words[0]] = row
            row["counts"] = [int(number) for number in re.findall(r" (\d+) ", line)]
            continue
        for state in STATES:
            if line.startswith("    " + state):
                names, words = row[state], line[4 + len(state):].split()
        names += words
    return done.returncode, first, libraries


def imported(torch: Path, node: str) -> set[str]:
    """What torch imports from one library, as nm sees it."""
    names = set()
    for path in torch.glob("lib/*.so*"):
        text = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True,
                              text=True).stdout
        names.update(re.findall(rf"^\s+U (\w+)@{re.escape(node)}$", text, re.M))
    return names


def with_a_library_less(gpuleak: Path, sim: Path, python: str, gone: str) -> None:
    """Without a stand-in its functions are missing, and the exit code says so."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(gpuleak, folder))
        shutil.copytree(sim, Path(folder, "sim"))
        for part in ("lib", "unsupported"):
            Path(folder, "sim", part, gone).unlink()
        code, first, libraries = listed(copy, python)
    expect_equal(code, 1, first)
    expect(libraries[gone]["missing"], gone)
    expect(", 0 missing" not in first, first)


def main() -> int:
    gpuleak, sim, python = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    find = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    try:
        torch = subprocess.run([python, "-c", find], capture_output=True, text=True).stdout.strip()
    except OSError:
        torch = ""
    if not torch:
        print(f"{python}: no PyTorch there")
        return 77

    code, first, libraries = listed(gpuleak, python, "--all")
    expect_equal(code, 0, first)
    total = [sum(row["counts"][i] for row in libraries.values()) for i in range(len(STATES))]
    expect_equal([int(number) for number in re.findall(r"(?<![\d.])\d+(?![\d.])", first)],
                 [sum(total), *total], first)
    for library, row in libraries.items():
        expect_equal([len(row[state]) for state in STATES], row["counts"], library)
        names = set(sum((row[state] for state in STATES), []))
        if library.startswith(("libcudart", "libcublas", "libcudnn", "libcusolver")):
            expect_equal(names, imported(Path(torch), library), library)
    runtime = next(row for library, row in libraries.items() if library.startswith("libcudart"))
    expect("cudaMalloc" in runtime["simulated"])
    if "cudaGraphAddNode" in imported(Path(torch), "libcudart.so.13"):
        expect("cudaGraphAddNode" in runtime["not supported"])
    few = listed(gpuleak, python)[2]
    expect_equal({library: row["counts"] for library, row in few.items()},
                 {library: row["counts"] for library, row in libraries.items()})
    expect(not any(row["simulated"] for row in few.values()), "named without --all")
    with_a_library_less(gpuleak, sim, python,
                        next(name for name in libraries if name.startswith("libcufft")))
    return result()


if __name__ == "__main__":
    sys.exit(main())
