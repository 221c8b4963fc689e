#!/usr/bin/env python3
"""Every stand-in exports all of its list, under the right version node, and nothing by accident.

exports.py SIM LISTS
"""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

failures = 0


def fail(text: str) -> None:
    global failures
    failures += 1
    print(text, file=sys.stderr)


def readelf(option: str, path: Path) -> str:
    return subprocess.run(["readelf", option, "-W", str(path)], capture_output=True, text=True,
                          check=True).stdout


def exported(path: Path) -> dict[str, str]:
    """Name to version node ("" without one) of what `path` defines for others."""
    symbols = {}
    for line in readelf("--dyn-syms", path).splitlines():
        words = line.split()
        if len(words) >= 8 and words[6] not in ("UND", "Ndx", "ABS") and words[4] != "LOCAL":
            name, _, node = words[7].replace("@@", "@").partition("@")
            symbols[name] = node
    return symbols


def dynamic(path: Path) -> dict[str, list[str]]:
    tags: dict[str, list[str]] = {}
    for tag, value in re.findall(r"\((\w+)\).*?\[(.*?)\]", readelf("-d", path)):
        tags.setdefault(tag, []).append(value)
    return tags


def read_list(path: Path) -> tuple[list[list[str]], list[str]]:
    """The @library lines and the functions."""
    lines = [line.split("#")[0].split() for line in path.read_text().splitlines()]
    lines = [words for words in lines if words]
    return ([words[1:] for words in lines if words[0] == "@library"],
            [words[0] for words in lines if words[0] != "@library"])


def check_stand_in(path: Path, soname: str, node: str, names: list[str]) -> None:
    symbols = exported(path)
    tags = dynamic(path)
    if tags.get("SONAME") != [soname]:
        fail(f"{path.name}: soname {tags.get('SONAME')}")
    foreign = [name for name in tags.get("NEEDED", [])
               if not re.match(r"(lib(c|dl|pthread|m)\.so|ld-linux)", name)]
    if not set(foreign) <= {"libgpuleak-simcore.so", "libcuda.so.1"}:
        fail(f"{path.name}: needs {foreign}")
    if "$ORIGIN" not in "".join(tags.get("RUNPATH", []) + tags.get("RPATH", [])):
        fail(f"{path.name}: no $ORIGIN")
    for name in names:
        if symbols.get(name, "missing") != node:
            fail(f"{path.name}: {name} has {symbols.get(name, 'no definition')}, expected {node}")
    for name in symbols:
        if not re.match(r"(__)?(cu[A-Zdbfrsp]|nccl|nvml|nvrtc|nvtx|nvshmem|cudnn|cupti)", name) \
                and name != node:
            fail(f"{path.name}: exports {name}")


def main() -> int:
    sim, lists = Path(sys.argv[1]), Path(sys.argv[2])
    found = set()
    for path in sorted(lists.glob("*.txt")):
        libraries, names = read_list(path)
        if names != sorted(set(names)):
            fail(f"{path.name}: not sorted, or a name twice")
        for soname, _, kind in libraries:
            node = {"versioned": soname, "unversioned": ""}.get(kind, kind)
            check_stand_in(sim / "lib" / soname, soname, node, names)
            found.add(soname)
    core = exported(sim / "lib" / "libgpuleak-simcore.so")
    if not core or any(not name.startswith("gpusim_") for name in core):
        fail(f"libgpuleak-simcore.so exports {sorted(core)}")
    audit = exported(sim / "libgpuleak-sim.so")
    if sorted(audit) != ["la_objsearch", "la_version"]:
        fail(f"libgpuleak-sim.so exports {sorted(audit)}")
    files = {path.name for path in (sim / "lib").iterdir()} - {"libgpuleak-simcore.so"}
    if files != found:
        fail(f"stand-ins {sorted(files)}, lists {sorted(found)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
