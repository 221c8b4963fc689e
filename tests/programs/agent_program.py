"""Trains with a stand-in of PyTorch, on any Python: the tracer's agent can't tell the difference.

    agent_program.py FOLDER WAY      FOLDER: of the fake libraries

WAY is how the agent gets to run: `asked` by the main thread, which asks for the number of devices
before the first event; `helped` by a thread of the tracer's, since nobody asks; `joined`: the same
while the main thread waits in a join.  `explicit`: as `asked`, and gpuleak_step() is called, too.
`late`: the first event comes while the interpreter goes down, when no agent can run any more.
`begun_anew`: as `asked`, after turns of a loop without an optimizer, and the process stops itself
before and after the call that makes these part of the baseline.
"""

import ctypes
import os
import signal
import sys
import threading
import time
import types

hooks = {"pre": [], "post": []}


def module(name, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    sys.modules[name] = made


module("torch")
module("torch.version", __version__="9.9.9+cu999", cuda="99.9")
module(
    "torch.optim.optimizer",
    register_optimizer_step_pre_hook=hooks["pre"].append,
    register_optimizer_step_post_hook=hooks["post"].append,
)
library = ctypes.CDLL(os.path.join(sys.argv[1], "libc10_cuda.so"))
library.fake_alloc.restype = ctypes.c_uint64
library.fake_alloc.argtypes = (ctypes.c_int, ctypes.c_uint64)
library.fake_free_at.argtypes = (ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64)


class Parameter:
    is_cuda = True

    def numel(self):
        return 100

    def element_size(self):
        return 4


class Optimizer:
    def __init__(self):
        self.param_groups = [{"params": [Parameter()]}]

    def step(self):
        stop()
        for hook in hooks["pre"]:
            hook(self, (), {})
        stop()
        library.fake_alloc(0, 2048)  # the optimizer's state
        for hook in hooks["post"]:
            hook(self, (), {})


def wait_for(condition, what):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "no " + what
        time.sleep(0.001)


stops = [2 if sys.argv[2] == "begun_anew" else 0]  # to come


def stop():
    if stops[0]:
        stops[0] -= 1
        os.kill(os.getpid(), signal.SIGSTOP)


def turn_of_loop():
    library.fake_free_at(0, library.fake_alloc(0, 4096), 4096)


def allocate():
    return library.fake_alloc(0, 512)  # this line


def train():
    allocate()
    if traced:
        wait_for(lambda: hooks["post"], "hooks")
    for turn in range(9 if stops[0] else 0):
        turn_of_loop()
        allocate()
    optimizer = Optimizer()
    for turn in range(25):
        allocate()
        if turn == 12:
            optimizer.param_groups.append({"params": [Parameter(), Parameter()]})
        optimizer.step()
        if sys.argv[2] == "explicit":
            optimizer.step()
            tracer.gpuleak_step()
    print(len(hooks["pre"]), len(hooks["post"]) if traced else 0)


class Late:
    def __init__(self):
        self.alloc = library.fake_alloc

    def __del__(self):
        self.alloc(0, 512)


tracer = ctypes.CDLL(None)
traced = hasattr(tracer, "gpuleak_step")
if sys.argv[2] == "late":
    sys.modules["late"] = late = Late()
    late.self = late
    print("1 1")
    sys.exit()
if sys.argv[2] in ("asked", "explicit", "begun_anew"):
    tracer.cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
if sys.argv[2] == "joined":
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
else:
    train()
wait_for(lambda: len(os.listdir("/proc/self/task")) == 1, "end of the helper thread")
child = os.fork()  # Python 3.12 warns here of other threads, and -W error makes that an error
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
