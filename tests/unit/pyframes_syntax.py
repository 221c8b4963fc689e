"""Frames in the middle of every construct of the language."""
import contextlib
import functools
import sys

from pyframes_hook import checker

check = checker().check
check_with_gil = checker().check_with_gil


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
    code = "def f():\n" + "\n" * 200000 + "  check()\nf()"
    exec(compile(code, "<gap>", "exec"), {"check": check})
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
