"""The agent on every Python found here: steps from the optimizer's hooks, and Python stacks."""

import os
import shutil
import subprocess
from pathlib import Path

from target import Skip, expect, expect_equal, main

PROGRAM = Path(__file__).resolve().with_name("agent_program.py")
VERSIONS = ["python3"] + [f"python3.{minor}" for minor in range(8, 16)]


def interpreters():
    """Those on PATH, and those of the build's GPULEAK_PYFRAMES_PYTHONS; each version once."""
    named = os.environ.get("GPULEAK_PYFRAMES_PYTHONS", "").split(":")
    paths = [path for path in [*named, *map(shutil.which, VERSIONS)] if path]
    found = {}
    for path in paths:
        ask = "import sys, ctypes; print('%d.%d.%d' % sys.version_info[:3], sys.executable)"
        done = subprocess.run([path, "-c", ask], stdout=-1, stderr=-1, text=True)
        if done.returncode == 0:
            version, executable = done.stdout.split()
            if tuple(map(int, version.split(".")[:2])) >= (3, 8):
                found.setdefault((version, Path(executable).resolve()), path)
    if not found:
        raise Skip("no Python with ctypes")
    return [(version, path) for (version, _), path in sorted(found.items())]


def is_static(python):
    """Its own functions come before those of any preloaded library.

    Debian has the shared library as well, and an executable that doesn't use it.
    """
    ask = "print('/libpython' in open('/proc/self/maps').read())"
    return subprocess.run([python, "-c", ask], stdout=-1, text=True).stdout != "True\n"


def each(box, way, only_shared=False, **variables):
    """The version and the trace of each interpreter."""
    pythons = [one for one in interpreters() if not (only_shared and is_static(one[1]))]
    if not pythons:
        raise Skip("no Python in a shared library")
    for version, python in pythons:
        for name in box.traces():
            (box.folder / name).unlink()
        command = [python, "-W", "error", PROGRAM, box.programs / "fake", way]
        done = box.run(command, env={"PYTHONDONTWRITEBYTECODE": "1", **variables})
        what = f"Python {version}, {way}"
        expect_equal(f"{what}: hooks and stderr", (done.stdout, done.stderr), ("1 1\n", ""))
        yield what, version, box.trace()


def check_way(box, way):
    line = 1 + PROGRAM.read_text().splitlines().index(
        "    return library.fake_alloc(0, 512)  # this line"
    )
    for what, version, trace in each(box, way):
        expect_equal(f"{what}: marks", trace.committed, 25)
        expect_equal(f"{what}: version", trace.string(trace.run["python"]), version)
        expect_equal(f"{what}: torch", trace.string(trace.run["torch"]), "9.9.9+cu999")
        parameters = [trace.state[f"parameters_{name}0"] for name in ("bytes", "count")]
        expect_equal(f"{what}: parameters, with those that joined", parameters, [1200, 3])
        check_frames(what, trace, line)


def check_frames(what, trace, line):
    site = max(trace.sites(), key=lambda s: s["allocs"] if s["source"] == 1 else 0)
    frames = site["frames"]
    expect(frames and frames[0]["language"] == 1, f"{what}: no Python frames: {frames[:2]}")
    got = [(f["file"], f["function"]) for f in frames[:2]]
    wanted = [(str(PROGRAM), "allocate"), (str(PROGRAM), "train")]
    expect_equal(f"{what}: frames", got, wanted)
    expect_equal(f"{what}: line", frames[0]["line"], line)


def test_asked(box):
    check_way(box, "asked")


def test_helped(box):
    check_way(box, "helped")


def test_joined(box):
    check_way(box, "joined")


def test_explicit(box):
    """From gpuleak_step() on that alone is the clock, once a turn; two marks before it prove nothing."""
    for what, _version, trace in each(box, "explicit"):
        expect_equal(f"{what}: marks and clock", (trace.committed, trace.state["clock"]), (25, 2))


def test_late(box):
    for what, _version, trace in each(box, "late"):
        expect_equal(f"{what}: marks", trace.committed, 0)
        events = [event["kind"] for event in trace.events()]
        expect_equal(f"{what}: events", events, ["malloc", "reserved", "alloc"])


def test_unknown_python(box):
    """A version from the future: no Python stacks, which trace and report say; all else works."""
    preload = f"{box.programs / 'fake/libfake_python.so'}:{box.tracer}"
    why = "unknown Python 3.99.1: no Python stacks"
    for what, _version, trace in each(box, "asked", only_shared=True, LD_PRELOAD=preload):
        expect_equal(f"{what}: marks", trace.committed, 25)
        said = trace.string(trace.run["python_why"]) or ""
        expect(why in said, f"{what}: the trace says {said!r}")
        expect_equal(f"{what}: flags", trace.run["flags"] & 2, 0)
        languages = {f["language"] for site in trace.sites() for f in site["frames"]}
        expect_equal(f"{what}: languages of frames", languages, {2})
        expect(why in box.read()["trace"]["python_stacks_off"], f"{what}: not in the JSON")
        text = subprocess.run([box.report, box.trace_path], stdout=-1, text=True).stdout
        expect(f"Python's lines are missing: {said}" in text, f"{what}: the report says {text}")


if __name__ == "__main__":
    main(globals())
