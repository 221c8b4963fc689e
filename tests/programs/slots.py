"""A trace that is written at marks: on disks that are slow, hang, are full, broken or not local."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from books import RandomEvents, simple_steps
from files import one_line
from marks import loop_turns
from target import TIMEOUT_S, Failure, Skip, expect, expect_equal, main
from trace import Trace

from processes import check_killed

HOUR_MS = 3_600_000
SLOTS = {"GPULEAK_WRITER": "slots"}


def preload(box, **more):
    """The disk's stand-in comes before the tracer."""
    shim = box.programs / "fake/libslow_disk.so"
    return {**SLOTS, "LD_PRELOAD": f"{shim}:{box.tracer}", **more}


def write_events(box, events):
    (box.folder / "events.txt").write_text("\n".join(" ".join(map(str, e)) for e in events) + "\n")


def head_of(path):
    with open(path, "rb") as file:
        return file.read(64)


def written(path):
    """The state in a file that is being written: its slots may change as we read."""
    for _ in range(200):
        try:
            head = head_of(path)
            state = Trace(path).state
            if head_of(path) == head:
                return state
        except (AssertionError, OSError):
            pass
        time.sleep(0.005)
    raise Failure(f"{path}: no slot is ever whole")


def marks_written(path):
    """The last mark in it."""
    return written(path)["committed"]


def is_slotted(path):
    return path.read_bytes()[:8] == b"GPULKSL\0"


class Run:
    """A replay that is held after each part of its events until these are in the file."""

    def __init__(self, box, parts, env):
        self.box, self.parts = box, parts
        self.seen = 0  # the last mark that was in the file
        events = [event for part in parts for event in [*part, ("h",)]]
        write_events(box, events)
        self.process = box.start(["replay", "events.txt"], env=env)

    def ended(self):
        return self.process.poll() is not None

    def wait_for_mark(self, mark):
        until = time.monotonic() + TIMEOUT_S
        while not self.ended():
            self.seen = marks_written(self.box.trace_path)
            if self.seen >= mark:
                return
            if time.monotonic() > until:
                raise Failure(f"mark {mark} is not written, the last is {self.seen}")
            time.sleep(0.005)

    def play(self):
        """To its end, or until something ends it; returns what it said on standard error."""
        marks = 0
        for part in self.parts:
            if self.process.stdout.readline() != "holding\n":
                break
            marks += sum(event == ("s",) for event in part)
            self.wait_for_mark(marks)
            try:
                self.process.stdin.write("\n")
                self.process.stdin.flush()
            except BrokenPipeError:
                break
        _, err = self.process.communicate(timeout=TIMEOUT_S)
        return err


def parts_of(events, marks):
    """The events in parts of so many marks."""
    parts, count = [[]], 0
    for event in events:
        parts[-1].append(event)
        count += event == ("s",)
        if event == ("s",) and count % marks == 0:
            parts.append([])
    return [part for part in parts if part]


def test_each_write_killed(box):
    """Killed within a write, half of it done: the trace is right up to the last written mark."""
    events = list(RandomEvents(3, sites=20).steps(24))
    parts = parts_of(events, 6)
    long = os.environ.get("GPULEAK_TEST_LONG") == "true"
    call, kills, marks = 1, 0, set()
    while True:
        shutil.rmtree(box.folder)
        box.folder.mkdir()
        run = Run(box, parts, preload(box, GPULEAK_TEST_PWRITE=f"kill {call} 1 0"))
        run.play()
        if run.process.returncode == 0:
            break
        expect_equal("killed by", run.process.returncode, -signal.SIGKILL)
        kills += 1
        if box.trace_path.exists():
            trace = box.trace()
            marks.add(trace.committed)
            expect(trace.committed >= run.seen, f"mark {trace.committed} after {run.seen}")
            if trace.committed:
                check_killed(box, trace, events)
            box.read()
        call += 1 if long else 3
    expect(kills > 10, f"only {kills} writes")
    expect({0, 6, 12, 18} <= marks, f"only marks {marks}")


def check_whole(box):
    """All that the report says of a device is of one mark."""
    for device in box.read()["devices"]:
        held = sum(site["bytes"] for site in device["sites"] if site["source"] == "torch")
        expect_equal("bytes of the sites", held, device["allocated"]["last"])


def play_anew(box, parts, env):
    """Two parts, of which the second has a better clock; False when it was killed."""
    write_events(box, [*parts[0], ("h",), *parts[1], ("h",)])
    process = box.start(["replay", "events.txt"], env={**env, "GPULEAK_CLOCK": None})
    for part in parts:
        marks, until = part.count(("s",)) or None, time.monotonic() + TIMEOUT_S
        process.stdout.readline()
        while process.poll() is None:
            state = written(box.trace_path) if box.trace_path.exists() else {"clock": 0}
            if state["clock"] == (2 if marks else 5) and state["committed"] >= (marks or 8):
                break
            expect(time.monotonic() < until, f"{marks} marks are not written: {state}")
            time.sleep(0.005)
        try:
            process.stdin.write("\n")
            process.stdin.flush()
        except BrokenPipeError:
            break
    process.communicate(timeout=TIMEOUT_S)
    return process.returncode == 0


def test_anew_each_write_killed(box):
    """The same where a better clock comes in between: old marks, or new ones."""
    chance, seen = RandomEvents(4, sites=20), set()
    parts = [list(loop_turns(12, chance)), list(chance.steps(6))]
    long = os.environ.get("GPULEAK_TEST_LONG") == "true"
    call, ended = 1, False
    while not ended:
        shutil.rmtree(box.folder)
        box.folder.mkdir()
        ended = play_anew(box, parts, preload(box, GPULEAK_TEST_PWRITE=f"kill {call} 1 0"))
        if box.trace_path.exists():
            trace = box.trace()
            seen.add(trace.state["clock"] if trace.committed else 0)
            if trace.committed and trace.state["clock"] == 2:
                check_killed(box, trace, sum(parts, []))
            check_whole(box)
        call += 1 if long else 2
    expect_equal("clocks", seen, {0, 2, 5})


def test_killed_anywhere(box):
    """At random moments of a run with many marks and forks."""
    parts = parts_of(RandomEvents(8, sites=60, addresses=30000).steps(2000), 2)
    events = [event for part in parts for event in [*part, ("W",)]]
    write_events(box, events)
    chance, marks = random.Random(time.time_ns()), []
    for _ in range(6):
        for name in box.traces():
            (box.folder / name).unlink()
        process = box.start(["replay", "events.txt"], env={**SLOTS, "GPULEAK_SIZE": "16M"})
        while not box.trace_path.exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.4)
        process.kill()
        process.communicate()
        trace = box.trace()
        marks.append(trace.committed)
        if trace.committed:
            check_killed(box, trace, events)
        box.read()
    expect(len(set(marks)) > 2, f"killed at marks {marks}: not at random moments")


def leaving(box, way, *broken, **variables):
    program = Path(__file__).resolve().with_name("leaving_program.py")
    command = [sys.executable, program, box.programs / "fake", way, *broken]
    return box.start(command, env=preload(box, PYTHONDONTWRITEBYTECODE=1, **variables))


def test_leaves(box):
    """_exit() and execve() run no destructor: the last marks are there all the same."""
    for way, code, marks in (("exit", 3, 20), ("exec", 0, 20), ("fail", 3, 40)):
        for name in box.traces():
            (box.folder / name).unlink()
        process = leaving(box, way)
        out, err = process.communicate(timeout=TIMEOUT_S)
        expect_equal(way, (process.returncode, err), (code, ""))
        expect_equal(f"marks with {way}", box.trace().committed, marks)


def test_leaves_hanging_disk(box):
    """They don't wait for long, once for all, and a child of vfork() doesn't at all."""
    broken = box.folder / "broken"
    rule = f"delay 1 1 {HOUR_MS}"
    process = leaving(
        box, "fail", broken, GPULEAK_TEST_PWRITE=rule, GPULEAK_TEST_FROM=broken
    )
    while not box.trace_path.exists() or marks_written(box.trace_path) < 20:
        expect(process.poll() is None, "it ended")
        time.sleep(0.005)
    out, err = process.communicate("\n", timeout=TIMEOUT_S)
    gone = time.monotonic()
    expect_equal("it ends", (process.returncode, err), (3, ""))
    child, first, second, leaves = out.splitlines()
    forks = sys.version_info < (3, 10)  # and waits for the writing under way then
    expect(float(child) < (1 if forks else 0.15), f"the child took {child} s")
    expect(0.15 < float(first) < 1, f"the first execve() took {first} s")
    expect(float(second) < 0.15, f"the second execve() took {second} s")
    expect(gone - float(leaves.split()[1]) < 1, "_exit() waited")
    expect_equal("marks", box.trace().committed, 20)


class Late:
    """A replay whose disk goes wrong once the marks of its first part are written."""

    def __init__(self, box, first, rest, rule):
        first = list(first)
        write_events(box, [*first, ("h",), *rest])
        broken = box.folder / "broken"
        env = preload(box, GPULEAK_TEST_PWRITE=rule, GPULEAK_TEST_FROM=broken)
        self.process = box.start(["replay", "events.txt"], env=env)
        expect_equal("it says", self.process.stdout.readline(), "holding\n")
        marks, until = sum(event == ("s",) for event in first), time.monotonic() + TIMEOUT_S
        while marks_written(box.trace_path) < marks:
            expect(time.monotonic() < until, f"mark {marks} is not written")
            time.sleep(0.005)
        broken.touch()

    def play(self):
        """Seconds until it said that it is done, and until it was gone; standard error."""
        started = time.monotonic()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        done = time.monotonic() - started
        try:
            _, err = self.process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("it waits for the disk at its end")
        expect('"whole": true' in line, f"the program said {line!r} and {err!r}")
        expect_equal("exit code", self.process.returncode, 0)
        return done, time.monotonic() - started, err


def test_slow_disk(box):
    """Each write takes seconds: no mark waits for one, and the end not for long."""
    late = Late(box, simple_steps(20), simple_steps(5000), "delay 1 1000 15000")
    done, gone, err = late.play()
    expect(done < 12, f"5000 steps took {done:.1f} s")
    expect(gone < 14, f"its end came after {gone:.1f} s")
    one_line(err, "can't write the end of")
    trace = box.trace()
    expect_equal("mark and status", (trace.committed, trace.state["status"]), (20, 1))
    box.read()


def test_hanging_disk(box):
    """A write never comes back: of many forks the first one waits for it, and not for long."""
    rest = [*simple_steps(4000), *[("W",)] * 40, ("s",)]
    done, gone, err = Late(box, simple_steps(20), rest, f"delay 1 1000 {HOUR_MS}").play()
    one_line(err, "can't write the end of")
    expect(done < 7 and gone < 10, f"it took {done:.1f} and {gone:.1f} s")
    expect_equal("mark", box.trace().committed, 20)


def test_forks(box):
    """At a fork the thread is gone: Python from 3.12 on warns of forks with threads."""
    events = list(simple_steps(3000))
    for place in range(100, len(events), 97):
        events.insert(place, ("F",))
    write_events(box, events)
    done = box.run(["replay", "events.txt"], env=SLOTS)
    expect_equal("standard error", done.stderr, "")
    expect_equal("marks", box.trace().committed, 3000)


def test_forks_slow_disk(box):
    """A fork waits until its marks are written where that is quick, and that not too often."""
    for write_ms, forks in ((12, 20), (2, 100)):  # some twelve writes each time
        rest = [*simple_steps(20), *[event for _ in range(forks) for event in (("s",), ("W",))]]
        late = Late(box, simple_steps(20), rest, f"delay 1 1000000 {write_ms}")
        done, _, err = late.play()
        expect_equal("standard error", err, "")
        expect(done < 1.2, f"{forks} forks took {done:.1f} s with {write_ms} ms a write")
        for path in box.folder.iterdir():
            path.unlink()


def test_no_space_for_a_while(box):
    """The disk is full in mid-run: said once; later marks are written when there is room."""
    events = list(RandomEvents(4).steps(24))
    for number, count in ((9, 1), (12, 5), (15, 1)):
        shutil.rmtree(box.folder)
        box.folder.mkdir()
        rule = f"fail {number} {count} {errno.ENOSPC}"
        run = Run(box, parts_of(events, 8), preload(box, GPULEAK_TEST_PWRITE=rule))
        one_line(run.play(), "No space left", "trying again")
        expect_equal("exit code", run.process.returncode, 0)
        expect_equal("marks", box.trace().committed, 24)
        check_killed(box, box.trace(), events)


def test_broken_disk(box):
    """From some moment on nothing can be written: what was before stays."""
    events = list(RandomEvents(4).steps(24))
    first, *rest = parts_of(events, 8)
    for error in (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        for call in (1, 3):
            shutil.rmtree(box.folder)
            box.folder.mkdir()
            late = Late(box, first, sum(rest, []), f"fail {call} 100000 {error}")
            one_line(late.play()[2], os.strerror(error))
            expect_equal("mark", box.trace().committed, 8)
            check_killed(box, box.trace(), events)
            box.read()


def fill(path):
    """Takes all the room that is left on a disk."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                expect_equal("the disk is full", error.errno, errno.ENOSPC)


def run_on_filling_disk(box, disk, writer, events):
    """The trace and what was said: the disk fills up after eight marks."""
    first, *rest = parts_of(events, 8)
    write_events(box, [*first, ("h",), *sum(rest, []), ("h",)])
    out = f"{disk.name}/{writer}.bin"
    process = box.start(
        ["replay", "events.txt"], env={"GPULEAK_OUT": out, "GPULEAK_WRITER": writer}
    )
    expect_equal("it says", process.stdout.readline(), "holding\n")
    while writer == "slots" and marks_written(box.folder / out) < 8:
        time.sleep(0.005)
    fill(disk / "other")
    for _ in range(2):
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
    _, err = process.communicate(timeout=TIMEOUT_S)
    (disk / "other").unlink()
    expect_equal("exit code", process.returncode, 0)
    return box.trace(out), err


def test_disk_fills(box):
    """A small disk that somebody else fills in mid-run: a mapped trace has its room already."""
    disk = box.folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "none", str(disk)]
    if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode:
        raise Skip("mounting isn't allowed here")
    try:
        events = list(RandomEvents(4).steps(24))
        trace, err = run_on_filling_disk(box, disk, "slots", events)
        one_line(err, "No space left", "trying again")
        expect_equal("mark", trace.committed, 8)
        check_killed(box, trace, events)
        box.read("disk/slots.bin")
        trace, err = run_on_filling_disk(box, disk, "mapped", events)
        expect_equal("said", err, "")
        expect_equal("mark", trace.committed, 24)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_interrupted_writes(box):
    """Short writes and EINTR: all of it is written all the same."""
    events = list(RandomEvents(5).steps(24))
    for rule in ("short 1 1000000 1000", f"fail 5 3 {errno.EINTR}"):
        shutil.rmtree(box.folder)
        box.folder.mkdir()
        run = Run(box, parts_of(events, 8), preload(box, GPULEAK_TEST_PWRITE=rule))
        expect_equal("standard error", run.play(), "")
        expect_equal("marks", box.trace().committed, 24)
        check_killed(box, box.trace(), events)


def test_file_system_decides(box):
    """What isn't known to be local isn't mapped; GPULEAK_WRITER has the last word."""
    write_events(box, simple_steps(3))
    nfs, fuse, new, ext4 = "0x6969", "0x65735546", "0x12345678", "0xef53"
    for kind, writer, slotted in (
        (ext4, None, False), (nfs, None, True), (fuse, None, True), (new, None, True),
        (nfs, "mapped", False), (ext4, "slots", True), (nfs, "auto", True),
    ):  # fmt: skip
        env = preload(box, GPULEAK_TEST_FILE_SYSTEM=kind)
        env["GPULEAK_WRITER"] = writer
        box.run(["replay", "events.txt"], env=env)
        expect_equal(f"slots on {kind} with {writer}", is_slotted(box.trace_path), slotted)
        expect_equal("marks", box.trace().committed, 3)
        box.trace_path.unlink()
    done = box.run(["replay", "events.txt"], env={"GPULEAK_WRITER": "socks"})
    one_line(done.stderr, "GPULEAK_WRITER=socks is none of")


def test_takes_what_it_needs(box):
    """The file has holes: what is in use is on the disk, twice."""
    write_events(box, simple_steps(10))
    box.run(["replay", "events.txt"], env={**SLOTS, "GPULEAK_SIZE": "64M"})
    status = os.stat(box.trace_path)
    expect_equal("size", status.st_size, (128 << 20) + 4096)
    expect(status.st_blocks * 512 < 1 << 20, f"{status.st_blocks * 512} bytes are taken")
    # A section that nobody told slot_image.c of is written, too.
    expect(box.trace().host()["resident"] > 0, "the process's memory is missing")


def mounted(box):
    """A folder of a real FUSE file system, and the process that serves it."""
    if not shutil.which("bindfs") or not os.access("/dev/fuse", os.W_OK):
        raise Skip("bindfs or /dev/fuse isn't here")
    (box.folder / "behind").mkdir()
    (box.folder / "fuse").mkdir()
    words = ["bindfs", "-f", "--no-allow-other", "-o", "attr_timeout=0", "behind", "fuse"]
    server = subprocess.Popen(words, cwd=box.folder, stderr=subprocess.PIPE, text=True)
    for _ in range(500):
        if os.path.ismount(box.folder / "fuse"):
            return server
        if server.poll() is not None:
            raise Skip(f"no FUSE here: {server.stderr.read()}")
        time.sleep(0.01)
    raise Failure("bindfs does not mount")


def unmount(box, server):
    server.send_signal(signal.SIGCONT)
    subprocess.run(["fusermount", "-u", "-z", str(box.folder / "fuse")], check=True)
    server.wait(20)


def test_fuse(box):
    """A real file system in user space: slots, without being told."""
    server = mounted(box)
    try:
        write_events(box, [*simple_steps(30)])
        box.run(["replay", "events.txt"], env={"GPULEAK_OUT": "fuse/trace.bin"})
        expect(is_slotted(box.folder / "behind/trace.bin"), "it was mapped")
        expect_equal("marks", box.trace("fuse/trace.bin").committed, 30)
        box.run(["replay", "events.txt"], env={"GPULEAK_OUT": "fuse/trace.bin"})
        folder, wanted = box.folder / "behind", ["trace.bin", "trace.bin.old"]
        for _ in range(200):  # FUSE learns later that the process closed its files
            if sorted(path.name for path in folder.iterdir()) == wanted:
                break
            time.sleep(0.01)
        expect_equal("traces", sorted(path.name for path in folder.iterdir()), wanted)
    finally:
        unmount(box, server)


def test_fuse_hangs(box):
    """Its process stops answering in mid-run: the steps go on, the process can be killed."""
    server = mounted(box)
    try:
        write_events(box, [*simple_steps(30), ("h",), *simple_steps(3000), ("h",)])
        process = box.start(["replay", "events.txt"], env={"GPULEAK_OUT": "fuse/trace.bin"})
        process.stdout.readline()
        while marks_written(box.folder / "behind/trace.bin") < 30:
            time.sleep(0.005)
        server.send_signal(signal.SIGSTOP)
        process.stdin.write("\n")
        process.stdin.flush()
        expect_equal("after 3000 more steps it says", process.stdout.readline(), "holding\n")
        process.kill()
        process.communicate(timeout=TIMEOUT_S)
        trace = box.trace("behind/trace.bin")
        expect(trace.committed >= 30, f"mark {trace.committed}")
    finally:
        unmount(box, server)


if __name__ == "__main__":
    main(globals())
