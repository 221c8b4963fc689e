#!/usr/bin/env python3
"""Add to lists/ what an installed PyTorch imports from CUDA's libraries, and say what is new.

    refresh-lists.py [--check] [--complete] [--headers DIR]... TORCH...

TORCH is a torch folder in some site-packages, or any folder with shared libraries. DIR is a folder
with CUDA's headers: from the prototypes there come the rules of the functions that are new. Lines
already in a list stay as they are. --check writes nothing and ends with 1 if something is new.
--complete adds every function of the headers, as one that isn't simulated, so that extensions
which import more than PyTorch does can be loaded.
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

LISTS = Path(__file__).resolve().parent / "lists"

# Names without a version node are told apart by how they begin; the first match counts.
UNVERSIONED = [
    (r"nccl[A-Z]", "nccl"),
    (r"cusparseLt[A-Z]", "cusparselt"),
    (r"cuFile[A-Z]", "cufile"),
    (r"nvml[A-Z]", "nvml"),
    (r"cu[A-Z]", "cuda"),
]

# Libraries of calculations and descriptors: their functions succeed, and fill what they return.
CALCULATIONS = {"cublas", "cublaslt", "cusolver", "cusparse", "cufft", "curand", "cudnn"}
# Those that only watch: they succeed and see nothing.
WATCHERS = {"cupti", "nvtoolsext"}

PROTOTYPE = re.compile(r"\b(cu(?:solver|sparse|fft|blas|rand|dnn)\w+)\s*\(([^()]*)\)\s*;", re.S)

# Where each library's functions are declared, and how they begin.
HEADERS = {
    "cudart": (["cuda_runtime_api.h"], "cuda"),
    "cuda": (["cuda.h"], "cu"),
    "cublas": (["cublas_api.h"], "cublas"),
    "cublaslt": (["cublasLt.h"], "cublasLt"),
    "cusolver": (["cusolverDn.h", "cusolverSp.h", "cusolver_common.h"], "cusolver"),
    "cusparse": (["cusparse.h"], "cusparse"),
    "cufft": (["cufft.h", "cufftXt.h"], "cufft"),
    "curand": (["curand.h"], "curand"),
    "cudnn": (["cudnn_graph.h", "cudnn_ops.h", "cudnn_cnn.h", "cudnn_adv.h"], "cudnn"),
    "nccl": (["nccl.h"], "nccl"),
    "nvrtc": (["nvrtc.h"], "nvrtc"),
}


def undefined_symbols(path: Path) -> set[tuple[str, str]]:
    """(name, version node or "") of every dynamic symbol that `path` imports."""
    output = subprocess.run(["nm", "-D", "--undefined-only", str(path)],
                            capture_output=True, text=True).stdout
    symbols = set()
    for line in output.splitlines():
        name, _, node = line.split()[-1].replace("@@", "@").partition("@")
        symbols.add((name, node))
    return symbols


def looked_up(path: Path, functions: set[str]) -> set[str]:
    """The driver's functions that one of PyTorch's libraries has in its strings, to look them up."""
    if not functions or not re.match(r"lib(c10|torch|caffe2)", path.name):
        return set()
    words = re.findall(rb"\0((?:cu|nvml)[A-Z]\w+)(?=\0)", path.read_bytes())
    return {word.decode() for word in words} & functions


def driver_functions(folders: list[Path]) -> set[str]:
    functions: set[str] = set()
    for folder in folders:
        for name in ("cuda.h", "nvml.h"):
            if (folder / name).exists():
                text = (folder / name).read_text()
                functions.update(re.findall(r"\b((?:cu|nvml)[A-Z]\w+)\s*\(", text))
    return functions


def library_of(name: str, node: str, nodes: dict[str, str]) -> str | None:
    if node:
        return nodes.get(node)
    for pattern, library in UNVERSIONED:
        if re.match(pattern, name):
            return library
    return None


def read_lists() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Each list's lines, and which list a version node belongs to."""
    lines, nodes = {}, {}
    for path in sorted(LISTS.glob("*.txt")):
        lines[path.stem] = path.read_text().splitlines()
        for line in lines[path.stem]:
            words = line.split()
            if words and words[0] == "@library":
                nodes[words[1] if words[3] == "versioned" else words[3]] = path.stem
    return lines, nodes


def out_rule(parameter: str, index: int, function: str) -> str | None:
    """What to store through one parameter of a prototype, as generate.py writes it."""
    text = re.sub(r"/\*.*?\*/", "", parameter, flags=re.S).strip()
    match = re.fullmatch(r"(.*?)([\w]*)\s*(\[\])?", text, re.S)
    kind, name = re.sub(r"\s+", "", match.group(1)), match.group(2).lower()
    if "const" in kind:
        return None
    if kind == "size_t*":
        return f"size@{index}"
    if kind == "int*" and re.search(r"lwork|buffer|size|bytes", name):
        return f"lwork@{index}"
    if kind == "int*" and re.search(r"nnz|version", name):
        return f"int@{index}"
    if kind == "int*" and name == "info" and re.search(r"(getrs|geqrf|gels)Batched", function):
        return f"int@{index}"  # this one is on the host
    if kind == "int64_t*":
        return f"int64@{index}"
    if kind == "cufftHandle*":
        return f"int@{index}"
    if re.fullmatch(r"(\w+_t|void\*)\*", kind) and re.search(r"create", function, re.I):
        return f"handle@{index}"
    return None


def rules_from_headers(folders: list[Path]) -> dict[str, str]:
    rules = {}
    for folder in folders:
        for path in sorted(folder.glob("*.h")):
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(errors="replace"), flags=re.S)
            for name, parameters in PROTOTYPE.findall(text):
                found, index = [], 0
                for parameter in parameters.split(","):
                    words = parameter.split()
                    if "*" not in parameter and words and words[0] in ("float", "double"):
                        continue  # in a register of another kind
                    rule = out_rule(parameter, index, name)
                    if rule:
                        found.append(rule)
                    index += 1
                rules.setdefault(name, " ".join(found))
    return rules


def declared(library: str, folders: list[Path]) -> set[str]:
    """The functions that the headers declare for one library, older forms (`_v2`) included."""
    headers, prefix = HEADERS.get(library, ([], ""))
    names: set[str] = set()
    for path in (folder / header for folder in folders for header in headers):
        if not path.exists():
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(errors="replace"), flags=re.S)
        text = re.sub(r"__dv\([^)]*\)", "", text)
        alias = rf"^\s*#\s*define\s+{prefix}[A-Z]\w+\s+({prefix}[A-Z]\w+_v\d+)\s*$"
        names.update(re.findall(alias, text, re.M))
        text = re.sub(r"^\s*#.*(\\\n.*)*", "", text, flags=re.M)
        names.update(re.findall(rf"\b({prefix}[A-Z]\w+)\s*\([^()]*\)\s*;", text))
    return names


def rule_of(name: str, library: str, rules: dict[str, str]) -> str:
    if name.endswith("GetErrorString"):
        return "text"
    if library in WATCHERS:
        return "ok"
    if library not in CALCULATIONS:
        return ""
    if rules.get(name):
        return "ok " + rules[name]
    quiet = re.search(r"[a-z](Create|Destroy|Set|Get)[A-Z_]|(Create|Destroy)$", name)
    return "ok" if quiet else "compute"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if something is new")
    parser.add_argument("--headers", action="append", type=Path, default=[], metavar="DIR")
    parser.add_argument("--complete", action="store_true", help="add all that the headers have")
    parser.add_argument("torch", nargs="+", type=Path)
    arguments = parser.parse_args()

    lines, nodes = read_lists()
    known = {stem: {line.split()[0] for line in text if line.split()}
             for stem, text in lines.items()}
    rules = rules_from_headers(arguments.headers)
    drivers = driver_functions(arguments.headers)
    new: dict[str, set[str]] = {}
    for folder in arguments.torch:
        for path in sorted(folder.rglob("*.so*")):
            symbols = undefined_symbols(path) | {(name, "") for name in looked_up(path, drivers)}
            for name, node in symbols:
                library = library_of(name, node, nodes)
                if library and name not in known[library]:
                    new.setdefault(library, set()).add(name)

    found = {library: set(names) for library, names in new.items()}
    if arguments.complete:
        for library in HEADERS:
            more = declared(library, arguments.headers) - known[library]
            if more:
                new.setdefault(library, set()).update(more)

    for library, names in sorted(new.items()):
        print(f"{library}: {len(names)} new: {' '.join(sorted(names))}")
        for name in names:
            rule = rule_of(name, library, rules) if name in found.get(library, ()) else ""
            lines[library].append(f"{name} {rule}".strip())
        if not arguments.check:
            head = [line for line in lines[library] if not line or line[0] in "#@"]
            body = sorted(line for line in lines[library] if line and line[0] not in "#@")
            (LISTS / f"{library}.txt").write_text("\n".join(head + body) + "\n")
    return 1 if new and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
