"""Loads the walk into this interpreter and asks it and Python the same question.

Python's own answer comes from a callback that the library makes in the middle of
a check, so both see the very same instant.
"""
import ctypes
import functools
import sys

STACK_MAX = 256


class Frame(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_void_p),
        ("file", ctypes.c_char * 1024),
        ("function", ctypes.c_char * 256),
        ("qualname", ctypes.c_char * 256),
        ("line", ctypes.c_uint32),
        ("first_line", ctypes.c_uint32),
        ("offset", ctypes.c_uint32),
        ("hidden", ctypes.c_bool),
    ]


class Capture(ctypes.Structure):
    _fields_ = [
        ("state", ctypes.c_uint32),
        ("depth", ctypes.c_uint32),
        ("cut", ctypes.c_uint32),
        ("unreadable", ctypes.c_uint32),
        ("hash", ctypes.c_uint64),
        ("frames", Frame * STACK_MAX),
    ]


NONE, EMPTY, FRAMES = 0, 1, 2


def load(path):
    """The library with its prototypes; the GIL is released in every call."""
    library = ctypes.CDLL(path)
    library.hook_why.restype = ctypes.c_char_p
    library.hook_frame_size.restype = ctypes.c_size_t
    library.hook_last.restype = ctypes.POINTER(Capture)
    library.hook_time.restype = ctypes.c_double
    library.hook_deaths.restype = ctypes.c_ulong
    library.hook_died.argtypes = [ctypes.c_void_p]
    library.hook_collector.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.hook_check_object.argtypes = [ctypes.py_object]
    assert library.hook_frame_size() == ctypes.sizeof(Frame)
    return library


def text(name, size):
    """A str as the library writes it: UTF-8 or raw bytes, cut at a character."""
    encoded = name.encode("utf-8", "surrogateescape").split(b"\0")[0]
    if len(encoded) >= size:
        encoded = encoded[: size - 1].decode("utf-8", "ignore").encode()
    return encoded


def chain(frame):
    """What Python says of `frame` and its callers."""
    found = []
    while frame is not None and len(found) <= STACK_MAX:
        code = frame.f_code
        found.append(
            (
                id(code),
                text(code.co_filename, 1024),
                text(code.co_name, 256),
                text(getattr(code, "co_qualname", ""), 256),
                frame.f_lineno,
                max(code.co_firstlineno, 0),
                max(frame.f_lasti, 0),
            )
        )
        frame = frame.f_back
    return found


def seen(capture):
    """The same of a capture."""
    return [
        (f.code, f.file, f.function, f.qualname, f.line, f.first_line, f.offset)
        for f in capture.frames[: capture.depth]
        if not f.hidden
    ]


class Checker:
    """Counts checks and prints the wrong ones."""

    def __init__(self, path):
        self.library = load(path)
        self.held = ctypes.PyDLL(path)
        self.checks = 0
        self.wrong = 0
        self.frameless = []  # states of checks in threads without Python frames
        self._answer = ctypes.CFUNCTYPE(None)(self.answer)
        self.library.hook_set_answer(self._answer)
        self.check = functools.partial(self.library.hook_check, self._answer)
        self.check_with_gil = functools.partial(self.held.hook_check, self._answer)
        self.check_object = self.library.hook_check_object
        self.check_in_thread = self.library.hook_check_in_thread

    def complain(self, *what):
        self.wrong += 1
        if self.wrong < 20:
            print("wrong:", *what)

    def answer(self):
        try:
            self.compare(self.library.hook_last().contents, sys._getframe().f_back)
        except Exception as error:  # ctypes would drop it
            self.complain(repr(error))

    def compare(self, capture, frame):
        expected = chain(frame)
        got = seen(capture)
        self.checks += 1
        if not expected:
            self.frameless.append(capture.state)
        if capture.unreadable:
            self.complain(capture.unreadable, "frames can't be read")
        cut = len(expected) > STACK_MAX
        if cut != bool(capture.cut) and capture.depth == len(got):
            self.complain("cut", capture.cut, "of", len(expected))
        if cut or capture.cut:
            expected = expected[: len(got)]
        if expected and capture.state != FRAMES:
            self.complain("state", capture.state)
        if len(got) != len(expected):
            self.complain(len(got), "frames, not", len(expected), got[:3], expected[:3])
            return
        for ours, theirs in zip(got, expected):
            if theirs[4] is None:  # an instruction of the compiler's own: any line will do
                ours = ours[:4] + (None,) + ours[5:]
            if ours != theirs:
                self.complain("is", ours, "should be", theirs)


@functools.lru_cache(None)
def checker():
    """The one of this process, on the library that the command line names."""
    return Checker(sys.argv[1])
