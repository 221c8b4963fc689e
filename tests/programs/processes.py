"""Fork, exec, sudden ends, closed descriptors: a trace a process, right up to its last mark."""

import json
import random
import signal
import sys
import time
from pathlib import Path

from books import RandomEvents, replay, simple_steps
from compare import SiteNumbers, compare
from model import Model
from target import Failure, expect, expect_equal, main


def told(done):
    """What each process said of itself, in order."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def traces_by_pid(box):
    found = {}
    for name in box.traces():
        found.setdefault(box.trace(name).run["pid"], []).append((name, box.trace(name)))
    return found


def totals(trace):
    sites = [site for site in trace.sites() if site["source"] == 1]
    return {
        "pid": trace.run["pid"],
        "marks": trace.committed,
        "allocs": sum(site["allocs"] for site in sites),
        "frees": sum(site["frees"] for site in sites),
        "live": sum(site["live_bytes"] for site in sites),
    }


def check_children(box, mode, processes, command=("children",), **options):
    """As many traces as processes, and each says what its process says."""
    done = box.run([*command, mode], **options)
    expect_equal("standard error", done.stderr, "")
    said = sorted(told(done), key=lambda one: one["pid"])
    expect_equal("processes with events", len(said), processes)
    traces = [box.trace(name) for name in box.traces()]
    got = sorted((totals(trace) for trace in traces), key=lambda one: one["pid"])
    expect_equal("traces", got, said)
    leftover = [name for name in box.files() if name.endswith(".tmp")]
    expect_equal("temporary files", leftover, [])
    return done


def test_fork(box):
    check_children(box, "fork", 2)
    expect_equal("status of both", [box.trace(n).state["status"] for n in box.traces()], [2, 2])


def test_fork_quiet(box):
    """A child without events writes nothing, at its exit neither."""
    check_children(box, "fork_quiet", 1)


def test_fork_before(box):
    """Neither child touches the parent's trace, which has no name yet."""
    check_children(box, "fork_before", 2)


def test_fork_grandchild(box):
    check_children(box, "fork_grandchild", 3)


def test_fork_storm(box):
    """Children of a process whose threads are anywhere in the tracer: no deadlock, no crash."""
    done = box.run(["children", "fork_storm"], env={"GPULEAK_SIZE": "2M"}, code=None)
    expect_equal("exit code and stderr", (done.returncode, done.stderr), (0, ""))
    children = [name for name in box.traces() if name != "trace.bin"]
    expect_equal("children with a trace", len(children), 60)
    for name in children:
        expect_equal("a child's totals", totals(box.trace(name))["allocs"], 1)


def test_clone(box):
    """A child of clone(2) alone, which no library hears of: a trace of its own, no crash."""
    check_children(box, "clone", 2)


def test_clone_quiet(box):
    check_children(box, "clone_quiet", 1)


def test_vfork(box):
    check_children(box, "vfork", 2)


def test_spawn(box):
    check_children(box, "spawn", 2)


def test_exec(box):
    """The same pid twice: the first program's trace becomes an old one."""
    done = box.run(["children", "exec"])
    expect_equal("traces", box.traces(), ["trace.bin", "trace.bin.old"])
    got = [totals(box.trace(name)) for name in ("trace.bin.old", "trace.bin")]
    expect_equal("both programs", got, told(done))


def test_fork_and_end(box):
    """A process that forks and then ends without a destructor: its last marks, too."""
    check_children(box, "fork_and_end", 3)


def test_fork_and_exec(box):
    check_children(box, "fork_and_exec", 2)


def test_workers(box):
    """Python's multiprocessing: workers end by os._exit(), and so does their parent."""
    program = Path(__file__).resolve().with_name("workers_program.py")
    check_children(box, box.programs / "fake", 3, command=(sys.executable, program))


def test_last_marks(box):
    """Other ends that run no destructor."""
    for mode in ("exec_by_name", "exec_by_name_with", "exec_by_descriptor", "end_quickly"):
        check_children(box, mode, 1)
        box.trace_path.unlink()


def test_descriptors(box):
    """None of ours is open in the next program."""
    done = box.run(["children", "leave_descriptors"])
    expect_equal("descriptors left", done.stdout, "")


def test_close_early(box):
    """A program that closes what it doesn't know, before its first event."""
    check_children(box, "close_early", 1)


def test_close_late(box):
    check_children(box, "close_late", 1)
    expect_equal("status", box.trace().state["status"], 2)


def test_close_and_fork(box):
    """The descriptor's number belongs to the program's own file by now: it stays open."""
    check_children(box, "close_and_fork", 2)


def test_exit(box):
    replay(box, [*simple_steps(5), ("e", 9)], code=9)
    expect_equal("marks and status", (box.trace().committed, box.trace().state["status"]), (5, 2))


def test_sudden_exit(box):
    """After _exit() all is right up to the last mark; nothing says that it finished."""
    events = [*simple_steps(5), ("a", 0, 0x500000, 512, 3)]
    replay(box, [*events, ("E", 9)], code=9)
    trace = box.trace()
    check_killed(box, trace, events)
    expect_equal("status", trace.state["status"], 1)


def check_killed(box, trace, events):
    model = Model(events, marks=trace.committed)
    wrong = compare(trace, model, SiteNumbers(box.program("replay")), ended=False)
    if wrong:
        raise Failure("\n  ".join(["", *wrong[:10], f"{len(wrong)} differences"]))


def test_kill_itself(box):
    events = [*RandomEvents(5).steps(40), ("a", 0, 0x5000, 512, 3)]
    replay(box, [*events, ("k",)], code=-signal.SIGKILL)
    trace = box.trace()
    expect_equal("marks", trace.committed, 40)
    check_killed(box, trace, events)
    report = box.read()
    for device in report["devices"]:
        wanted = Model(events).devices[device["device"]]
        expect_equal("allocated", device["allocated"]["last"], wanted.timeline[-1][1])


def kill_anywhere(box, longest) -> int:
    """Kills a run within `longest` seconds of its trace; the marks that the trace has then."""
    for name in box.traces():
        (box.folder / name).unlink()
    process = box.start(["replay", "events.txt"], env={"GPULEAK_SIZE": "16M"})
    while not box.trace_path.exists() and process.poll() is None:
        time.sleep(0.001)
    time.sleep(random.Random(time.time_ns()).random() * longest)
    process.kill()
    process.communicate()
    return box.trace().committed


def test_killed_anywhere(box):
    """Twelve kills at random moments of a run: every statistic is the last mark's.

    How long the run takes depends on the machine: a kill that came too late is tried again sooner.
    """
    events = list(RandomEvents(8, sites=60, addresses=20000).steps(1500))
    (box.folder / "events.txt").write_text("\n".join(" ".join(map(str, e)) for e in events))
    longest, early = 0.1, []
    for _ in range(100):
        marks = kill_anywhere(box, longest)
        if marks == 1500:
            longest *= 0.8
            continue
        check_killed(box, box.trace(), events)
        box.read()
        early.append(marks)
        if len(early) == 12:
            break
    expect(len(set(early)) > 5, f"killed at marks {early}: not at random moments")


if __name__ == "__main__":
    main(globals())
