"""Frames in threads, callbacks, deallocations, under tracers and deep down."""
import asyncio
import ctypes
import gc
import sys
import threading
import weakref

import pyframes_hook
import pyframes_syntax
from pyframes_hook import checker

check = checker().check
check_object = checker().check_object


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
            pyframes_syntax.case_nested() if i % 2 else pyframes_syntax.case_generators()
            if n % 2:
                pyframes_syntax.case_comprehensions()

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
    checker().check_in_thread(False)
    checker().check_in_thread(True)
    none, empty = pyframes_hook.NONE, pyframes_hook.EMPTY
    if checker().frameless != [none, none, empty, empty]:
        checker().complain("states", checker().frameless)


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

    names = "nested generators comprehensions classes exceptions multi_line".split()
    traced = [getattr(pyframes_syntax, "case_" + name) for name in names]
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
        pyframes_syntax.case_nested()
        pyframes_syntax.case_generators()
        pyframes_syntax.case_classes()
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
