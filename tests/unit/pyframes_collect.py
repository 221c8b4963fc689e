"""Whether Python's collector is at work, as the interpreter's own state says it."""
import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pyframes_hook  # noqa: E402


class InCycle:
    """Goes in a collection; `seen` gets what the library says then."""

    def __init__(self, collecting, seen):
        self.collecting = collecting
        self.seen = seen
        self.itself = self

    def __del__(self):
        self.seen.append(self.collecting())


def main():
    library = pyframes_hook.load(sys.argv[1])
    wrong = []

    def expect(what, got, wanted):
        if got != wanted:
            wrong.append(f"{what}: {got}, expected {wanted}")

    expect("found before there is an interpreter", library.hook_collector(1, 2), 0)
    if not library.hook_attach():
        print("not attached:", library.hook_why().decode())
        return 1
    garbage, callbacks = id(gc.garbage), id(gc.callbacks)
    expect("found by other lists", library.hook_collector(id([]), callbacks), 0)
    expect("found by one list", library.hook_collector(garbage, garbage), 0)
    expect("asked before it is found", library.hook_collecting(), 0)
    expect("found", library.hook_collector(garbage, callbacks), 1)
    expect("found again", library.hook_collector(garbage, callbacks), 1)

    gc.disable()
    seen = []
    InCycle(library.hook_collecting, seen)
    expect("at rest", library.hook_collecting(), 0)
    gc.collect()
    expect("by hand", seen, [1])
    expect("after it", library.hook_collecting(), 0)

    outside = InCycle(library.hook_collecting, seen)
    outside.itself = None
    del outside
    expect("without a cycle", seen, [1, 0])

    gc.enable()
    InCycle(library.hook_collecting, seen)
    kept = []
    while len(seen) < 3 and len(kept) < 1000000:
        kept.append([])
    expect("by itself", seen, [1, 0, 1])
    for line in wrong:
        print("wrong:", line)
    print(sys.version.split()[0], len(wrong), "wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
