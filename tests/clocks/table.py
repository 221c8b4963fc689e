#!/usr/bin/env python3
"""Compares the table of steps counted in docs/verdicts.md with the rows of optimizers.py, others.py
and several.py: each row of the page is a test of its name, with that number of steps and that verdict,
and each test is a row of the page.

Exit 0: they agree. 1: not.
"""

import ast
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/verdicts.md"
ROW = re.compile(r"^\| .+ \| (?P<count>[^|]+) \| `(?P<test>\w+)` \|$", re.MULTILINE)


def value(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def tests(path: Path) -> dict:
    """Steps, and whether a LEAK is expected, of each function with @row(...)."""
    found = {}
    for function in ast.parse(path.read_text(encoding="utf-8")).body:
        for call in getattr(function, "decorator_list", []):
            options = {word.arg: value(word.value) for word in call.keywords}
            leaks = "LEAK" in (options.get("device"), options.get("second"))
            if "steps" in options:
                found[function.name] = options["steps"], leaks or None in options  # **LEAK
    return found


def main() -> int:
    wanted = {}
    for file in ("optimizers.py", "others.py", "several.py"):
        wanted.update(tests(HERE / file))
    said, wrong = {}, []
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        numbers = [int(number) for number in re.findall(r"\b\d+\b", row["count"])]
        said[row["test"]] = numbers[-1] if numbers else None, "LEAK" in row["count"]
    for name in sorted({*wanted, *said}):
        if name not in said or name not in wanted:
            wrong.append(f"{name}: {'not on the page' if name in wanted else 'no such test'}")
        elif said[name][0] is not None and said[name] != wanted[name]:
            wrong.append(f"{name}: the page says {said[name]}, the test {wanted[name]}")
    print("\n".join(wrong) or f"{len(said)} rows agree")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
