"""Daemon threads go on walking while Python ends and frees their states."""
import ctypes
import gc
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pyframes_hook  # noqa: E402

ROUNDS = 5

# How to start this Python again: its own name is not enough under another loader.
PYTHON = os.environ.get("PYFRAMES_PYTHON", sys.executable).split()


class AtTheEnd:
    """Cleared with the last modules: takes the freed states' memory and fills it with garbage."""

    def __init__(self, library):
        self.end = library.hook_end
        self.libc = ctypes.CDLL(None)
        self.libc.malloc.restype = ctypes.c_void_p
        self.libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

    def __del__(self):
        for size in range(64, 4096, 16):
            for _ in range(4):
                self.libc.memset(self.libc.malloc(size), 0x41, size)
        self.end()
        self.libc.usleep(20000)


def child(path):
    library = pyframes_hook.load(path)
    if not library.hook_attach():
        return 2
    if not library.hook_collector(id(gc.garbage), id(gc.callbacks)):
        return 4
    for _ in range(4):
        threading.Thread(target=library.hook_walk_at_end, daemon=True).start()
    sys.at_the_end = AtTheEnd(library)
    capture = pyframes_hook.Capture()
    library.hook_capture(ctypes.byref(capture))
    return 0 if capture.state == pyframes_hook.FRAMES else 3


def main():
    failed = 0
    for _ in range(ROUNDS):
        status = subprocess.call([*PYTHON, *sys.argv, "child"])
        if status:
            failed += 1
            print("ended with", status)
    print(sys.version.split()[0], ROUNDS, "ends,", failed, "bad")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(child(sys.argv[1]) if "child" in sys.argv else main())
