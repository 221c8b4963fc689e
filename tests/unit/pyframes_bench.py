"""What a walk costs, in ns: pyframes_bench.py HOOK-LIBRARY [ANOTHER ...], side by side.

Stacks are of 30 different functions.  Hot: walk after walk, so that the processor
overlaps them.  Cold: with 1 MiB of other data touched before each, which pushes a
walk's memory out of the first-level cache; the clock's own 20 to 40 ns are in it.
"""
import ctypes
import sys

KINDS = [("walk, hot", 0, 20000), ("walk, cold", 2, 300), ("walk and resolve", 1, 200)]
FUNCTION = """
def f{0}(time, kind, rounds, more):
    if not more:
        return time(kind, rounds)
    x = more
    return f{1}(time, kind, rounds, more - 1)
"""


def main():
    libraries = [ctypes.CDLL(path) for path in sys.argv[1:]]
    for library in libraries:
        library.hook_time.restype = ctypes.c_double
        assert library.hook_attach()
    scope = {}
    exec("".join(FUNCTION.format(i, (i + 1) % 30) for i in range(30)), scope)
    print(sys.version.split()[0])
    for frames in (1, 20, 60):
        for name, kind, rounds in KINDS:
            best = []
            for library in libraries:
                # main() and the module below, or nothing but a thread's first function.
                times = [
                    scope["f0"](library.hook_time, kind, rounds, frames - 3) if frames > 3
                    else alone(library.hook_time, kind, rounds)
                    for _ in range(3)
                ]
                best.append(min(times))
            print("{:3d} frames {:17s}".format(frames, name), *("{:7.1f}".format(t) for t in best))


def alone(time, kind, rounds):
    """In a thread whose only frame is the one that asks."""
    import _thread
    done = _thread.allocate_lock()
    done.acquire()
    result = []

    def first():
        result.append(time(kind, rounds))
        done.release()

    _thread.start_new_thread(first, ())
    done.acquire()
    return result[0]


if __name__ == "__main__":
    main()
