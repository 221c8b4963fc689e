"""docs/how-verdicts-work.md has every constant of the verdict, with its value.

    constants_page.py SRC/report docs/how-verdicts-work.md

A row names constants by commas and gives as many values; "_MEAN" behind "SILENCE_EVEN" is
short for "SILENCE_MEAN".
"""

import re
import sys
from pathlib import Path

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}


def value_of_code(text: str) -> float:
    shift = re.fullmatch(r"\((\d+) << (\d+)\)", text)
    return float(int(shift[1]) << int(shift[2])) if shift else float(text)


def constants(folder: Path) -> dict:
    text = (folder / "verdict_constants.h").read_text()
    found = re.findall(r"^#define (\w+)[ \t]+(\([^)]*\)|[-\d.]+)", text, re.M)
    found += re.findall(r"(VERDICT_MARKS_MIN) = (\d+)", (folder / "verdict.h").read_text())
    return {name: value_of_code(value) for name, value in found}


def whole_name(name: str, before: str, known: dict) -> str:
    """The name that `name` is short for, `before` being the last whole one."""
    if not name.startswith("_"):
        return name
    ends = [m.start() for m in re.finditer("_", before)]
    return next((before[:end] + name for end in ends if before[:end] + name in known), name)


def value_of_page(text: str) -> float:
    number = re.match(r"(-?[\d.]+)(?: (KiB|MiB))?", text.replace("−", "-"))
    return float(number[1]) * UNITS.get(number[2], 1) if number else float("nan")


def rows(page: str, known: dict):
    section = re.search(r"^## Constants\n(.*?)^## ", page, re.M | re.S)[1]
    for names, values in re.findall(r"^\| ([A-Z][^|]*) \| ([^|]*) \|", section, re.M):
        whole = ""
        names, values = names.split(", "), values.split(", ")
        if len(names) != len(values):
            yield ", ".join(names), float("nan")
            continue
        for name, value in zip(names, values):
            whole = whole_name(name, whole, known)
            yield whole, value_of_page(value)


def main() -> int:
    known = constants(Path(sys.argv[1]))
    shown = dict(rows(Path(sys.argv[2]).read_text(), known))
    failed = 0
    if len(known) < 50:
        failed += 1
        print(f"only {len(known)} constants found, so this test sees little")
    for name in sorted(set(known) | set(shown)):
        if known.get(name) != shown.get(name):
            failed += 1
            print(f"{name}: {known.get(name)} in the code, {shown.get(name)} on the page")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
