#!/usr/bin/env python3
"""Adds up what ctest's --output-junit files tell; the last line is 'total: N passed, N failed, N
skipped'.

Exit 1 when a test failed, or when one was skipped that has no business to: on a machine that
scripts/setup.sh has set up only the tests of a real GPU may be.
"""

import sys
import xml.etree.ElementTree as xml

MAY_BE_SKIPPED = ("gpu.",)


def outcome(case) -> str:
    status = case.get("status")
    if case.find("skipped") is not None or status in ("notrun", "disabled"):
        return "skipped"
    return "passed" if status == "run" else "failed"


def main(paths: list) -> int:
    names = {"passed": [], "failed": [], "skipped": []}
    for path in paths:
        if path.endswith("*.xml"):  # an unmatched pattern of the shell: no step ran tests
            continue
        for case in xml.parse(path).getroot().iter("testcase"):
            names[outcome(case)].append(case.get("name"))

    bad_skips = [name for name in names["skipped"] if not name.startswith(MAY_BE_SKIPPED)]
    for name in names["failed"]:
        print("failed:", name)
    for name in names["skipped"]:
        print("skipped:", name, "(must not be)" if name in bad_skips else "")
    print("total: " + ", ".join(f"{len(found)} {word}" for word, found in names.items()))
    return 1 if names["failed"] or bad_skips else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
