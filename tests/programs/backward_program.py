"""Backward passes without PyTorch, on any Python.

    backward_program.py FOLDER CASE      FOLDER: of the fake libraries

What is allocated has a size of its own in each place, which tells the test which it is.  The lines
that call backward() stand in functions of their own, called after the sizes.
"""

import ctypes
import gc
import os
import sys
import threading
import types

FUNCTION = ctypes.CFUNCTYPE(None)
RETURNS, THROWS, JUMPS = range(3)

library = ctypes.CDLL(os.path.join(sys.argv[1], "libc10_cuda.so"))
library.fake_alloc.restype = ctypes.c_uint64
library.fake_alloc.argtypes = (ctypes.c_int, ctypes.c_uint64)
engine = ctypes.CDLL(os.path.join(sys.argv[1], "libengine.so"))
engine.engine_alloc.argtypes = (ctypes.c_uint64,)
engine.engine_pass.restype = ctypes.c_bool
tracer = ctypes.CDLL(None)


def kilobytes(number):
    return number * 1024


def backward(nodes, end=RETURNS):
    """As torch.autograd.backward(): the frames of the caller's lie behind it."""
    made = FUNCTION(nodes)
    return engine.engine_pass(made, end)


def allocate(number):
    """A node allocates, on the engine's thread."""
    engine.engine_alloc(kilobytes(number))


def on_engine(node):
    """A node written in Python, on the engine's thread."""
    made = FUNCTION(node)
    engine.engine_call(made)


def one(number, end=RETURNS):
    return backward(lambda: allocate(number), end)


def two(number, end=RETURNS):
    return backward(lambda: allocate(number), end)


def in_thread(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


def lines():
    for number in (1, 2, 3) * 3:
        one(number) if number % 2 else two(number)


def ways_out():
    """By an exception, and by longjmp(): the next pass, of whichever thread, is the only one."""
    assert not one(1, THROWS)
    in_thread(two, 2)
    assert not one(3, JUMPS)
    two(4)
    in_thread(one, 5)


def at_once():
    """Of two at once it isn't known whose it is, unless both were called by the same stack."""

    def first():
        allocate(1)
        in_thread(two, 2)
        allocate(3)

    backward(first)
    two(4)


def alike():
    inner = threading.Event()

    def second():
        allocate(2)
        inner.set()

    def work(turns):
        backward(turns.pop())

    def first():
        allocate(1)
        in_thread(work, [second])
        assert inner.is_set()

    in_thread(work, [first])


def nested():
    """Within another pass the line is the outer one's: of checkpointing, on either thread."""

    def recompute():
        library.fake_alloc(0, kilobytes(2))
        two_within(3)
        library.fake_alloc(0, kilobytes(4))

    def nodes():
        allocate(1)
        on_engine(recompute)
        two(5)
        allocate(6)

    outer(nodes)


def outer(nodes):
    backward(nodes)


def two_within(number):
    """The engine's thread does it itself."""
    backward(lambda: library.fake_alloc(0, kilobytes(number)))


def recompiled():
    """Functions of one address, one after the other: the tracer's agent tells it that one died."""
    hooks = []
    for name in ("torch", "torch.version", "torch.optim.optimizer"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["torch.version"].__dict__.update(__version__="9.9.9", cuda="99.9")
    for when in ("pre", "post"):
        name = f"register_optimizer_step_{when}_hook"
        setattr(sys.modules["torch.optim.optimizer"], name, hooks.append)
    tracer.cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
    while len(hooks) < 2:
        pass
    for number in range(1, 9):
        code = f"def step():\n    backward(lambda: allocate({number}))\nstep()\n"
        exec(compile(code, f"cell{number}.py", "exec"), {"backward": backward, "allocate": allocate})
        gc.collect()


def paused():
    tracer.gpuleak_pause()

    def nodes():
        tracer.gpuleak_resume()
        allocate(1)

    backward(nodes)
    two(2)


def forked():
    """A child of fork has no pass, though it comes out of its parent's."""

    def nodes():
        if os.fork() == 0:
            library.fake_alloc(0, kilobytes(1))
            tracer.gpuleak_step()
            os._exit(0)
        os.wait()

    one(3)
    backward(nodes)
    two(2)


library.fake_alloc(0, 512)
globals()[sys.argv[2]]()
tracer.gpuleak_step()
print("done")
