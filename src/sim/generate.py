#!/usr/bin/env python3
"""Make the stubs and the linker's version script of one stand-in library.

    generate.py LIST SONAME OUTPUT.c OUTPUT.map UNSUPPORTED [SOURCE.c ...]

LIST names the functions; docs/simulated-gpu.md has its form. What the hand-written SOURCEs export
are exported as well. A stub is weak, so that a hand-written function of that name takes its place.
UNSUPPORTED gets the names of the stubs that say "not supported"; `gpuleak check --sim` reads it.
"""
from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

WORDS = 24  # integer or pointer arguments that a stub looks at

# What a rule `kind@index` stores through the pointer that is argument `index`.
STORES = {
    "size": ("size_t", "4096"),
    "zero": ("size_t", "0"),
    "lwork": ("int", "1024"),
    "int": ("int", "0"),
    "int64": ("int64_t", "0"),
    "handle": ("void *", "handle"),
}

EXPORT = re.compile(r"^SIM_EXPORT\s[^;]*?\b(\w+)\(", re.M)


@dataclass
class Function:
    name: str
    kind: str = "unsupported"  # or: ok, compute, text
    stores: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class Library:
    node: str = ""  # version node; empty: none
    error: int = 0
    functions: list[Function] = field(default_factory=list)


def read_function(words: list[str], where: str) -> Function:
    function = Function(words[0])
    for rule in words[1:]:
        kind, _, index = rule.partition("@")
        if rule in ("ok", "compute", "text"):
            function.kind = rule
        elif kind in STORES and index.isdigit() and int(index) < WORDS:
            function.stores.append((kind, int(index)))
        else:
            raise SystemExit(f"{where}: no such rule: {rule}")
    return function


def read_list(path: Path, soname: str) -> Library:
    library = Library()
    known = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        where = f"{path}:{number}"
        if not words:
            continue
        if words[0] == "@library":
            if words[1] == soname:
                known = True
                library.error = int(words[2])
                library.node = {"versioned": soname, "unversioned": ""}.get(words[3], words[3])
        else:
            library.functions.append(read_function(words, where))
    if not known:
        raise SystemExit(f"{path}: no @library line for {soname}")
    return library


def stub(function: Function, soname: str, error: int) -> str:
    name = function.name
    head = '__attribute__((weak)) SIM_EXPORT'
    if function.kind == "text":
        return f'{head} const char *{name}(void)\n{{\n\treturn "simulated GPU";\n}}\n'
    if function.kind == "unsupported":
        return (
            f"{head} long {name}(void)\n{{\n\tstatic atomic_flag said = ATOMIC_FLAG_INIT;\n\n"
            f'\treturn gpusim_unsupported(&said, "{name}", "{soname}", {error});\n}}\n'
        )
    used = {index for _, index in function.stores}
    if function.kind == "ok" and not used:
        return f"{head} long {name}(void)\n{{\n\treturn 0;\n}}\n"
    parameters = ", ".join(
        f"uint64_t a{i}" + ("" if i in used or not used else " UNUSED")
        for i in range(max(used) + 1 if used else WORDS))
    if used:
        body = "".join(f"\tif (a{index})\n\t\t*({STORES[kind][0]} *)a{index} = {STORES[kind][1]};\n"
                       for kind, index in function.stores)
    else:
        words = ", ".join(f"a{i}" for i in range(WORDS))
        body = (f"\tuint64_t words[] = {{ {words} }};\n\n"
                f"\tgpusim_shadow_kernel(words, {WORDS});\n")
    return f"{head} long {name}({parameters})\n{{\n{body}\treturn 0;\n}}\n"


PROLOGUE = """/* Made by generate.py from {list}.  Don't edit. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/core/notice.h"
#include "sim/core/shadow.h"
#include "sim/standin.h"

#define UNUSED __attribute__((unused))

/* What every opaque handle points to. */
static char handle[4096] UNUSED;

"""


def main() -> None:
    list_path, soname, c_path, map_path, unsupported_path, *sources = sys.argv[1:]
    library = read_list(Path(list_path), soname)
    text = PROLOGUE.format(list=Path(list_path).name)
    for function in library.functions:
        text += stub(function, soname, library.error) + "\n"
    Path(c_path).write_text(text)

    Path(unsupported_path).write_text("".join(
        f"{function.name}\n" for function in library.functions if function.kind == "unsupported"))
    names = {function.name for function in library.functions}
    for source in sources:
        names.update(EXPORT.findall(Path(source).read_text()))
    body = "".join(f"\t\t{name};\n" for name in sorted(names))
    node = library.node + " " if library.node else ""
    exports = f"\tglobal:\n{body}" if names else ""
    Path(map_path).write_text(f"{node}{{\n{exports}\tlocal: *;\n}};\n")


if __name__ == "__main__":
    main()
