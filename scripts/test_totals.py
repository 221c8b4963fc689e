#!/usr/bin/env python3
"""Adds up what ctest's --output-junit files tell.

    test_totals.py [--costs] FILE...

--costs: seconds by family of tests, and the slowest tests. Else the last line is 'total: N passed,
N failed, N skipped'; exit 1 when a test failed, or when one was skipped that cannot be where
scripts/setup.sh has been.
"""

import sys
import xml.etree.ElementTree as xml
from collections import Counter

# Tests that need PyTorch, which scripts/setup.sh has installed.
MUST_RUN = ("corpus.", "peaks", "recounted", "rings", "same.", "sim.", "totals")


def outcome(case) -> str:
    status = case.get("status")
    if case.find("skipped") is not None or status in ("notrun", "disabled"):
        return "skipped"
    return "passed" if status == "run" else "failed"


def costs(paths: list) -> int:
    """Seconds on the clock, while as many tests ran beside as there are processors."""
    for path in paths:
        cases = xml.parse(path).getroot().iter("testcase")
        seconds = sorted(((float(case.get("time")), case.get("name")) for case in cases), reverse=True)
        families = Counter()
        for took, name in seconds:
            families[name.split(".")[0]] += took
        print(f"{path}: {sum(families.values()):.0f} s")
        for name, total in families.most_common():
            print(f"{total:8.0f} s  {name}")
        for took, name in seconds[:25]:
            print(f"{took:12.1f} s  {name}")
    return 0


def main(paths: list) -> int:
    if paths[:1] == ["--costs"]:
        return costs(paths[1:])
    names = {"passed": [], "failed": [], "skipped": []}
    for path in paths:
        if path.endswith("*.xml"):  # an unmatched pattern of the shell: no step ran tests
            continue
        for case in xml.parse(path).getroot().iter("testcase"):
            names[outcome(case)].append(case.get("name"))

    bad_skips = [name for name in names["skipped"] if name.startswith(MUST_RUN)]
    for name in names["failed"]:
        print("failed:", name)
    for name in names["skipped"]:
        print("skipped:", name, "(must not be)" if name in bad_skips else "")
    print("total: " + ", ".join(f"{len(found)} {word}" for word, found in names.items()))
    return 1 if names["failed"] or bad_skips else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
