"""Every Python frame of the calling thread, as Python itself sees it, in many shapes of code."""
import asyncio
import contextlib
import ctypes
import functools
import gc
import os
import sys
import threading
import weakref

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pyframes_hook  # noqa: E402

checker = pyframes_hook.Checker(sys.argv[1])
check = checker.check
check_with_gil = checker.check_with_gil
check_object = checker.check_object


def case_nested():
    def outer(x):
        def inner(y):
            check()
            return y + x

        return inner(x) + inner(
            x + 1
        )

    outer(1)
    outer(
        2
    )
    check_with_gil()


def case_multi_line():
    check(
    )
    max(
        1,
        check() or 0,
        min(
            2,
            check() or 1,
        ),
    )
    x = [
        1,
        check(),
        (
            2, check()
        ),
    ]
    return (
        x
        or check()
    )


def case_generators():
    def numbers(n):
        for i in range(n):
            check()
            yield i
        check()

    def delegating(n):
        check()
        yield from numbers(n)
        result = yield from numbers(1)
        check()
        return result

    list(delegating(3))
    sum(x for x in numbers(2) if check() is not None or True)
    g = numbers(3)
    next(g)
    next(g)
    g.close()

    def catching():
        while True:
            try:
                yield check()
            except ValueError:
                check()

    g = catching()
    next(g)
    g.throw(ValueError("x"))
    g.send(None)
    g.close()

    def deep(n):
        if n:
            yield from deep(n - 1)
        else:
            yield check()

    list(deep(50))


def case_comprehensions():
    [check() for _ in range(3)]
    {check(): 1 for _ in range(2)}
    {i: check() for i in range(2)}
    [[check() for _ in range(2)] for _ in range(2)]
    list(check() for _ in range(2))
    [
        check()
        for a in range(2)
        if check() is not a
    ]


def case_lambdas():
    f = lambda: check()  # noqa: E731
    f()
    (lambda x: (lambda: check())())(1)
    sorted([3, 1, 2], key=lambda x: check() or x)
    list(map(lambda x: check(), range(3)))
    functools.reduce(lambda a, b: check() or a, range(4))


def case_classes():
    class Meta(type):
        def __new__(mcs, name, bases, body):
            check()
            return super().__new__(mcs, name, bases, body)

    class Body(metaclass=Meta):
        check()
        x = check()

        def __init__(self):
            check()
            self.y = check()

        @property
        def z(self):
            return check()

        @staticmethod
        def s():
            check()

        @classmethod
        def c(cls):
            check()

        def __add__(self, other):
            check()
            return self

        def __getattr__(self, name):
            check()
            return 1

        def __eq__(self, other):
            check()
            return True

        def __hash__(self):
            check()
            return 1

        def __len__(self):
            check()
            return 3

        def __getitem__(self, i):
            check()
            if i > 2:
                raise IndexError
            return i

        def __iter__(self):
            check()
            return iter([])

        def __contains__(self, x):
            check()
            return True

        def __enter__(self):
            check()
            return self

        def __exit__(self, *args):
            check()

        def __del__(self):
            check()

        def __bool__(self):
            check()
            return True

        def __call__(self):
            check()

        def __repr__(self):
            check()
            return "b"

        def __format__(self, spec):
            check()
            return "b"

        class Inner:
            def method(self):
                check()

    for _ in range(30):  # until the class call is specialised
        b = Body()
    b.z
    b.s()
    b.c()
    b + b
    b.missing
    b == b
    {b: 1}
    len(b)
    b[0]
    list(b)
    1 in b
    with b as c:
        c()
    if b:
        pass
    while b:
        break
    not b
    f"{b}" f"{b!r}"
    Body.Inner().method()
    del b, c
    x = Body()
    x = None  # noqa: F841
    for y in [Body(), Body()]:
        pass
    y = 1  # noqa: F841


def case_decorators():
    def deco(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            check()
            return f(*args, **kwargs)

        check()
        return wrapper

    @deco
    @deco
    def f(a, *, b=2):
        check()

    f(1)
    f(1, b=3)

    @contextlib.contextmanager
    def manager():
        check()
        yield
        check()

    with manager():
        check()

    @functools.lru_cache()
    def cached(x):
        return check()

    cached(1)


def case_exceptions():
    try:
        check()
        raise ValueError
    except ValueError:
        check()
    else:
        check()
    finally:
        check()

    def f():
        try:
            return check()
        finally:
            check()

    f()
    try:
        try:
            1 / 0
        finally:
            check()
    except ZeroDivisionError as e:
        check()
        e.__traceback__ = None


def case_exec():
    exec("check()\n\n\ncheck()", {"check": check})
    eval("check()", {"check": check})
    exec(compile("\n" * 5000 + "check()", "far away.py", "exec"), {"check": check})
    exec(compile("def f():\n" + "\n" * 200000 + "  check()\nf()", "<gap>", "exec"), {"check": check})
    code = "def f():\n" + "".join(" x = {}\n check()\n".format(i) for i in range(300)) + "f()\n"
    exec(compile(code, "long", "exec"), {"check": check})
    code = "f(" + "\n" * 300 + "g(),\n" + "\n" * 200 + "check() )"
    exec(compile(code, "backwards", "exec"), {"check": check, "f": lambda *a: check(), "g": check})


def case_names():
    for name in ["größe", "函数", "имя", "𝔘𝔫𝔦", "ñ" * 200, "長" * 90, "𝔘" * 70, "a" * 300]:
        scope = {"check": check}
        exec(compile("def {0}():\n  check()\n{0}()".format(name), name + ".py", "exec"), scope)
    for file in ["", "a\udc80\udcffb.py", "x" * 1500, "ü" * 600, "𝔘" * 300, "tab\tnew\nline"]:
        exec(compile("check()", file, "exec"), {"check": check})

    class Str(str):
        pass

    def f():
        check()

    if hasattr(f.__code__, "replace"):
        f.__code__ = f.__code__.replace(co_filename=Str("sub"), co_name=Str("ünter"))
        f()
        f.__code__ = f.__code__.replace(co_firstlineno=1)
        f()


def case_recursion():
    def f(n):
        if n:
            return f(n - 1)
        check()

    for n in [1, 10, 100, 240, 250, 251, 252, 253, 254, 255, 256, 257, 300, 600]:
        f(n)

    def to_the_limit(n):
        try:
            to_the_limit(n + 1)
        except RecursionError:
            if not done:
                done.append(n)
                sys.setrecursionlimit(limit + 200)
                check()

    limit = sys.getrecursionlimit()
    done = []
    to_the_limit(0)
    sys.setrecursionlimit(limit)

    class C:
        def __init__(self, n):
            if n:
                C(n - 1)
            else:
                check()

    for n in [5, 150, 300]:
        C(n)


def case_threads():
    def work(n):
        for i in range(20):
            case_nested() if i % 2 else case_generators()
            if n % 2:
                case_comprehensions()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    class Thread(threading.Thread):
        def run(self):
            check()

    t = Thread()
    t.start()
    t.join()


def case_foreign_threads():
    """One that Python learns of only by the callback, then one that it knows all along."""
    checker.check_in_thread(False)
    checker.check_in_thread(True)
    none, empty = pyframes_hook.NONE, pyframes_hook.EMPTY
    if checker.frameless != [none, none, empty, empty]:
        checker.complain("states", checker.frameless)


def case_callbacks():
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def compare(a, b):
        check()
        return 0

    libc = ctypes.CDLL(None)
    array = (ctypes.c_int * 4)(4, 3, 2, 1)
    libc.qsort(array, 4, 4, compare)

    @ctypes.CFUNCTYPE(ctypes.c_int)
    def outer():
        check()
        libc.qsort(array, 2, 4, compare)
        return 0

    outer()
    list(map(check_object, [1, 2]))
    sorted([2, 1, 3], key=check_object)
    iter(check, 0)
    next(iter(check, 1))


def case_dropped_references():
    class Target:
        pass

    def local():
        t = Target()
        r = weakref.ref(t, check_object)
        check()
        t = 1
        return r

    local()

    def at_return():
        t = Target()
        keep.append(weakref.ref(t, check_object))

    keep = []
    at_return()

    def in_expression():
        keep.append(weakref.ref(Target(), check_object))
        x = [Target(), Target()]
        keep.append(weakref.ref(x[0], check_object))
        keep.append(weakref.ref(x[1], check_object))
        x[0] = (
            None
        )
        x.pop()
        del x
        t = Target()
        keep.append(weakref.ref(t, check_object))
        del t
        for t in [Target() for _ in range(3)]:
            keep.append(weakref.ref(t, check_object))
        t = Target()
        keep.append(weakref.ref(t, check_object))
        t.me = t
        del t
        gc.collect()

    in_expression()


def case_asyncio():
    async def leaf(n):
        check()
        await asyncio.sleep(0)
        check()
        return n

    async def numbers(n):
        for i in range(n):
            check()
            yield await leaf(i)

    class Manager:
        async def __aenter__(self):
            check()

        async def __aexit__(self, *a):
            await leaf(1)
            check()

    async def main():
        async for i in numbers(3):
            check()
        [await leaf(i) async for i in numbers(2)]
        async with Manager():
            await asyncio.gather(*(leaf(i) for i in range(5)))
        await asyncio.get_running_loop().run_in_executor(None, check)
        asyncio.get_running_loop().call_soon(check)
        await asyncio.sleep(0)
        t = asyncio.ensure_future(leaf(3))
        await t

    asyncio.run(main())


def case_tracing():
    def tracer(frame, event, arg):
        if event in ("line", "call") and frame.f_code.co_name.startswith("case_"):
            check()
        return tracer

    traced = [case_nested, case_generators, case_comprehensions, case_classes, case_exceptions,
              case_multi_line]
    for use in [sys.settrace, sys.setprofile]:
        use(tracer)
        try:
            for case in traced:
                case()
        finally:
            use(None)


def case_monitoring():
    monitoring = getattr(sys, "monitoring", None)
    if not monitoring:
        check()
        return
    tool = 3
    monitoring.use_tool_id(tool, "pyframes")
    events = monitoring.events
    for event in [events.LINE, events.PY_START, events.CALL, events.PY_RETURN]:
        monitoring.register_callback(tool, event, lambda code, *rest: None)
    monitoring.set_events(tool, events.LINE | events.PY_START | events.CALL | events.PY_RETURN)
    try:
        case_nested()
        case_generators()
        case_classes()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


def case_loops():
    """Long enough for what specialises or compiles code."""
    def inner(x):
        if x % 500 == 0:
            check()
        return x

    class Point:
        def __init__(self, x):
            self.x = inner(x)

    total = 0
    for i in range(6000):
        total += inner(i)
        total += Point(i).x
        if i % 1000 == 0:
            check()


def case_closures():
    def outer():
        a = 1

        def middle():
            nonlocal a
            a += 1

            def inner():
                check()
                return a

            return inner()

        return middle()

    outer()

    def f(a=check(), *, b=check()):
        check()

    f()


def case_match():
    if sys.version_info < (3, 10):
        check()
        return
    exec(
        "def f(x):\n"
        "  match x:\n"
        "    case [a, b] if check() is None:\n"
        "      pass\n"
        "    case {'k': v}:\n"
        "      check()\n"
        "    case _:\n"
        "      check()\n"
        "f([1, 2])\nf({'k': 1})\nf(3)\n",
        {"check": check},
    )


def case_imports():
    """Frames of importlib, frozen into the interpreter."""
    import importlib.abc
    import importlib.util

    class Loader(importlib.abc.Loader):
        def create_module(self, spec):
            check()

        def exec_module(self, module):
            check()

    spec = importlib.util.spec_from_loader("pyframes_nothing", Loader())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "pyframes_nothing_else":
                return importlib.util.spec_from_loader(name, Loader())

    sys.meta_path.insert(0, Finder)
    try:
        import pyframes_nothing_else  # noqa: F401
    finally:
        sys.meta_path.remove(Finder)


def main():
    if not checker.library.hook_attach():
        print("not attached:", checker.library.hook_why().decode())
        return 1
    cases = [(name, case) for name, case in globals().items() if name.startswith("case_")]
    for name, case in cases:
        before = checker.checks, checker.wrong
        case()
        if checker.checks == before[0]:
            checker.complain(name, "checked nothing")
        if checker.wrong != before[1]:
            print(name, "is wrong")
    why = checker.library.hook_why()
    if why:
        checker.complain(why.decode())
    print(sys.version.split()[0], checker.checks, "checks,", checker.wrong, "wrong")
    return 1 if checker.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
