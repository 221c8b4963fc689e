"""Hashes tell stacks apart, and dead code objects are announced before their memory comes back."""
import ctypes
import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pyframes_hook  # noqa: E402

library = pyframes_hook.load(sys.argv[1])
capture = pyframes_hook.Capture()
reference = ctypes.byref(capture)
wrong = 0


def expect(ok, what):
    global wrong
    if not ok:
        wrong += 1
        print("wrong:", what)


def take():
    """One walk; its hash includes this line, the same for all."""
    library.hook_capture(reference)
    return capture.hash


def one():
    return take()


def other():
    return take()


def hashes():
    in_loop = {one() for _ in range(3)}
    expect(len(in_loop) == 1, "one place has one hash")
    a = one()
    b = one()
    expect(a != b, "two lines differ")
    pair = one(), one()
    expect(pair[0] != pair[1], "two calls in a line differ")
    expect(one() != other(), "two functions differ")

    def recursive(n):
        return take() if n == 0 else recursive(n - 1)

    depths = [recursive(n) for n in range(400)]
    expect(len(set(depths[:250])) == 250, "depths differ")

    def deep(n, f):
        return f() if n == 0 else deep(n - 1, f)

    expect(deep(300, one) != deep(300, other), "the innermost frames are kept")
    expect(capture.cut == 1 and capture.depth == 256, "cut at 256")
    one()
    expect(capture.cut == 0, "not cut")

    def a(rest):
        return rest[0](rest[1:])

    def b(rest):
        return rest[0](rest[1:])

    def end(rest):
        return take()

    orders = [a, b, a, end], [b, a, a, end], [a, a, b, end]
    expect(len({order[0](order[1:]) for order in orders}) == 3, "the order counts")
    expect(len({order[0](order[1:]) for order in [orders[0]] * 3}) == 1, "and nothing else")


def bits():
    """Close places, one far from the next in the hash."""
    code = "def f(take):\n" + "".join(" yield take()\n" for _ in range(4000))
    scope = {}
    exec(code, scope)
    found = list(scope["f"](take))
    expect(len(set(found)) == 4000, "4000 places have 4000 hashes")
    for shift in range(0, 64, 8):
        buckets = {h >> shift & 255 for h in found}
        expect(len(buckets) == 256, "all values of the byte at {}".format(shift))


def deaths():
    expect(library.hook_watch(), "watching")
    expect(library.hook_watch(), "watching twice is once")
    scope = {}
    exec("def f():\n  return 1", scope)
    code = scope["f"].__code__
    address = id(code)
    expect(not library.hook_died(address), "alive")
    del code
    scope.clear()  # a function holds its globals, and they the function
    gc.collect()  # free-threaded builds wait for it
    expect(library.hook_died(address), "dead")
    expect(not library.hook_died(id(one.__code__)), "others live")
    before = library.hook_deaths()
    for i in range(100):
        eval(compile(str(i), "<x>", "eval"))
    gc.collect()
    expect(library.hook_deaths() - before >= 100, "100 died")


def stale():
    """Short-lived snippets at addresses used before: a table that heeds deaths is never wrong."""
    heeding, ignoring = {}, {}
    wrong_heeding = wrong_ignoring = 0
    source = "def f{0}(take):\n" + "\n" * 3 + " return take()\n"
    for i in range(3000):
        scope = {}
        exec(compile(source.format(i % 700), "<snippet>", "exec"), scope)
        name = "f{}".format(i % 700)
        died = library.hook_deaths()
        found = scope[name](take)
        if heeding.get("epoch") != died:
            heeding = {"epoch": died}
        wrong_heeding += heeding.setdefault(found, name) != name
        wrong_ignoring += ignoring.setdefault(found, name) != name
        del scope
    expect(wrong_heeding == 0, "{} stale hits".format(wrong_heeding))
    expect(wrong_ignoring > 0, "no address came back: this test sees nothing")


def main():
    if not library.hook_attach():
        print("not attached:", library.hook_why().decode())
        return 1
    hashes()
    bits()
    deaths()
    stale()
    print(sys.version.split()[0], wrong, "wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
