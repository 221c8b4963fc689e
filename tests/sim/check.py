"""Checks that go on after a failure.  A program ends with sys.exit(check.result())."""
from __future__ import annotations

import sys
import traceback
from typing import Any, Callable

failures = 0


def expect(condition: Any, what: str = "") -> None:
    if condition:
        return
    global failures
    failures += 1
    caller = traceback.extract_stack(limit=2)[0]
    print(f"{caller.filename}:{caller.lineno}: not true: {caller.line} {what}", file=sys.stderr)


def expect_equal(actual: Any, expected: Any, what: str = "") -> None:
    if actual == expected:
        return
    global failures
    failures += 1
    caller = traceback.extract_stack(limit=2)[0]
    print(f"{caller.filename}:{caller.lineno}: {what} is {actual!r}, expected {expected!r}",
          file=sys.stderr)


def expect_raises(kind: type[BaseException], text: str, call: Callable[[], Any]) -> None:
    global failures
    try:
        call()
    except kind as error:
        if text in str(error):
            return
        print(f"{kind.__name__} says {error}, expected: {text}", file=sys.stderr)
    else:
        print(f"no {kind.__name__}: {text}", file=sys.stderr)
    failures += 1


def result() -> int:
    return 1 if failures else 0
