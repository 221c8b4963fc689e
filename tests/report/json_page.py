"""docs/json.md names every field of the reports that tests expect.

    json_page.py docs/json.md tests/report/expected
"""

import json
import re
import sys
from pathlib import Path


def fields(value) -> set:
    if isinstance(value, dict):
        return set(value).union(*(fields(one) for one in value.values()))
    if isinstance(value, list):
        return set().union(*(fields(one) for one in value))
    return set()


def main() -> int:
    named = set(re.findall(r"`([a-z_]+)`", Path(sys.argv[1]).read_text()))
    found, failed = set(), 0
    for path in sorted(Path(sys.argv[2]).glob("*.json")):
        text = re.sub(r"^exit code \d+\n", "", path.read_text(), flags=re.M)
        found |= fields(json.loads(text))
    if len(found) < 80:
        failed += 1
        print(f"only {len(found)} fields found, so this test sees little")
    for name in sorted(found - named):
        failed += 1
        print(f"{name} is in a report and not on the page")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
