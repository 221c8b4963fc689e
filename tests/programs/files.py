"""Where a trace goes and how it is called; nobody else's file is touched, whatever stands there."""

import fcntl
import os
import stat

from books import replay, simple_steps
from target import expect, expect_equal, main

EVENTS = [*simple_steps(3)]


def one_line(text, *parts):
    """The tracer said one line, with these parts in it."""
    lines = text.splitlines()
    expect(
        len(lines) == 1 and lines[0].startswith("gpuleak: ") and all(p in lines[0] for p in parts),
        f"expected one line with {parts}, got {text!r}",
    )


def three_steps(box, name="trace.bin"):
    expect_equal(f"marks in {name}", box.trace(name).committed, 3)


def test_default_name(box):
    replay(box, EVENTS)
    expect_equal("files", box.files(), ["events.txt", "trace.bin"])
    three_steps(box)


def test_percent_signs(box):
    host = os.uname().nodename
    replay(box, EVENTS, env={"GPULEAK_OUT": "%e-%h-%r-100%%-%q", "RANK": "5"})
    three_steps(box, f"replay-{host}-5-100%-%q")
    replay(box, EVENTS, env={"GPULEAK_OUT": "sub-%p.trace"})
    (name,) = [name for name in box.files() if name.startswith("sub-")]
    expect_equal("its pid", name, f"sub-{box.trace(name).run['pid']}.trace")
    replay(box, EVENTS, env={"GPULEAK_OUT": "norank%r.bin"})
    three_steps(box, "norank.bin")


def test_folder_and_space(box):
    (box.folder / "my runs").mkdir()
    replay(box, EVENTS, env={"GPULEAK_OUT": "my runs/trace größe.bin"})
    three_steps(box, "my runs/trace größe.bin")
    replay(box, EVENTS, env={"GPULEAK_OUT": box.folder / "my runs/absolute"})
    three_steps(box, "my runs/absolute")


def test_ranks(box):
    """The first variable that holds a number counts."""
    for env, rank in (
        ({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8"}, 3),
        ({"RANK": "x", "SLURM_PROCID": "12"}, 12),
        ({"OMPI_COMM_WORLD_RANK": "0"}, 0),
        ({"PMI_RANK": "7", "RANK": ""}, 7),
        ({"LOCAL_RANK": "2", "PMI_RANK": "-1"}, 2),
    ):
        replay(box, EVENTS, env=env)
        trace = box.trace(f"trace.rank{rank}.bin")
        expect_equal(f"rank in the trace of {env}", trace.run["rank"], rank)
        size = int(env.get("WORLD_SIZE", -1))
        expect_equal(f"world size of {env}", trace.run["world_size"], size)
    replay(box, EVENTS)
    expect_equal("no rank", box.trace().run["rank"], -1)


def test_old_chain(box):
    """An old trace is renamed, never overwritten."""
    pids = []
    for _ in range(4):
        replay(box, EVENTS)
        pids.append(box.trace().run["pid"])
    names = ["trace.bin.old", "trace.bin.old.2", "trace.bin.old.3", "trace.bin"]
    expect_equal("traces", box.traces(), sorted(names))
    expect_equal("pids, oldest first", [box.trace(n).run["pid"] for n in names], pids)


def test_old_of_no_trace(box):
    """Whatever file stands there is kept under .old."""
    (box.folder / "trace.bin").write_text("my notes")
    replay(box, EVENTS)
    expect_equal("the file", (box.folder / "trace.bin.old").read_text(), "my notes")
    three_steps(box)


def test_living_writer(box):
    """A trace that is being written stays; the second process puts its pid into the name."""
    events = "\n".join(" ".join(map(str, event)) for event in [*EVENTS, ("h",), *EVENTS])
    (box.folder / "held.txt").write_text(events)
    first = box.start(["replay", "held.txt"])
    expect_equal("the first says", first.stdout.readline(), "holding\n")
    before = box.trace().run["pid"]
    replay(box, EVENTS)
    others = [name for name in box.traces() if name != "trace.bin"]
    expect_equal("the second's trace", others, [f"trace.{box.trace(others[0]).run['pid']}.bin"])
    first.communicate("go\n", timeout=100)
    expect_equal("the first exits", first.returncode, 0)
    expect_equal("its pid", box.trace().run["pid"], before)
    expect_equal("its marks", box.trace().committed, 6)
    expect_equal("its status", box.trace().state["status"], 2)
    three_steps(box, others[0])


def test_many_at_once(box):
    """Processes that start together get a trace each."""
    (box.folder / "events.txt").write_text("\n".join(" ".join(map(str, e)) for e in EVENTS))
    started = [box.start(["replay", "events.txt"]) for _ in range(12)]
    for process in started:
        out, err = process.communicate(timeout=100)
        expect_equal("exit and stderr", (process.returncode, err), (0, ""))
    pids = {box.trace(name).run["pid"] for name in box.traces()}
    expect_equal("processes with a trace", pids, {process.pid for process in started})
    for name in box.traces():
        three_steps(box, name)


def pid_trace(box):
    (name,) = [name for name in box.traces() if name.split(".")[1].isdigit()]
    three_steps(box, name)
    return name


def test_symlink(box):
    """Somebody's link in a shared folder is not followed, nor what it points to renamed."""
    victim = box.folder / "victim"
    victim.write_text("precious")
    (box.folder / "trace.bin").symlink_to(victim)
    replay(box, EVENTS)
    expect_equal("the victim", victim.read_text(), "precious")
    expect(os.path.islink(box.folder / "trace.bin"), "the link is gone")
    pid_trace(box)


def test_dangling_symlink(box):
    (box.folder / "trace.bin").symlink_to(box.folder / "nothing")
    replay(box, EVENTS)
    expect("nothing" not in box.files(), "the link was followed")
    pid_trace(box)


def test_symlink_for_temporary(box):
    """The temporary name can be guessed: what stands there is not written to."""
    (box.folder / "victim").write_text("precious")
    lines = "\n".join(" ".join(map(str, event)) for event in EVENTS)
    (box.folder / "events.txt").write_text(lines)
    script = f"ln -s victim .trace.bin.$$.0.tmp; exec {box.program('replay')} events.txt"
    box.run(["/bin/sh", "-c", script])
    expect_equal("the victim", (box.folder / "victim").read_text(), "precious")
    three_steps(box)


def test_stale_temporary(box):
    """A process of the same pid was killed before its first event: in a container they repeat."""
    lines = "\n".join(" ".join(map(str, event)) for event in EVENTS)
    (box.folder / "events.txt").write_text(lines)
    script = f"echo old > .trace.bin.$$.0.tmp; exec {box.program('replay')} events.txt"
    done = box.run(["/bin/sh", "-c", script], env={"TMPDIR": None})
    expect_equal("standard error", done.stderr, "")
    three_steps(box)


def temporaries(box):
    return [name for name in box.files() if name.endswith(".tmp")]


def test_killed_before_the_first_event(box):
    """The file that it made ready is removed by the next process that makes a trace."""
    program = (
        "import ctypes, os; cudart = ctypes.CDLL('libcudart.so.99', ctypes.RTLD_GLOBAL); "
        "ctypes.CDLL(None).cudaGetDeviceCount(ctypes.byref(ctypes.c_int())); os.kill(os.getpid(), 9)"
    )
    for _ in range(3):
        box.run(["/usr/bin/env", "python3", "-c", program], code=-9,
                env={"LD_LIBRARY_PATH": box.programs / "fake"})  # fmt: skip
        expect_equal("temporary files", len(temporaries(box)), 1)
    replay(box, EVENTS)
    expect_equal("temporary files", temporaries(box), [])
    three_steps(box)


def test_leftovers(box):
    """Removed are traces and empty files of dead writers, and nothing else."""
    trace, slots = b"GPULEAK\0" + bytes(5000), b"GPULKSL\0" + bytes(5000)
    gone = {
        ".trace.bin.4711.0.tmp": trace,
        ".trace.rank3.bin.4712.12.tmp": slots,
        ".other.bin.4713.0.tmp": bytes(5000),
        ".trace.bin.4714.0.tmp": b"",
    }
    kept = {
        ".trace.bin.4715.0.tmp": b"GPULEAKY and my own",
        ".trace.bin.4716.tmp": trace,
        ".trace.bin.x.0.tmp": trace,
        ".4717.0.tmp": trace,
        "trace.bin.4718.0.tmp": trace,
        ".trace.bin.4719.0.tmp.old": trace,
        ".trace.bin.4720.0.tmp": trace,
        ".trace.bin.4721.0.tmp": trace,
    }
    for name, content in {**gone, **kept}.items():
        (box.folder / name).write_bytes(content)
    (box.folder / ".trace.bin.4722.0.tmp").symlink_to(box.folder / ".trace.bin.4716.tmp")
    os.link(box.folder / ".trace.bin.4721.0.tmp", box.folder / "another name")
    with open(box.folder / ".trace.bin.4720.0.tmp", "rb") as living:
        fcntl.flock(living, fcntl.LOCK_EX)
        done = replay(box, EVENTS)
    expect_equal("standard error", done.stderr, "")
    left = [name for name in box.files() if ".tmp" in name]
    expect_equal("left", left, sorted([*kept, ".trace.bin.4722.0.tmp"]))
    three_steps(box)


def test_no_file_at_the_name(box):
    """A folder or a pipe of that name: neither is opened for good nor renamed."""
    (box.folder / "trace.bin").mkdir()
    replay(box, EVENTS)
    expect((box.folder / "trace.bin").is_dir(), "the folder is gone")
    (box.folder / pid_trace(box)).unlink()
    (box.folder / "trace.bin").rmdir()
    os.mkfifo(box.folder / "trace.bin")
    replay(box, EVENTS)
    expect(stat.S_ISFIFO(os.stat(box.folder / "trace.bin").st_mode), "the pipe is gone")
    pid_trace(box)


def test_mode(box):
    """For the owner alone, whatever the umask."""
    for umask in (0o000, 0o022, 0o077):
        before = os.umask(umask)
        try:
            replay(box, EVENTS)
        finally:
            os.umask(before)
        mode = stat.S_IMODE(os.stat(box.trace_path).st_mode)
        expect_equal(f"mode under umask {umask:o}", mode, 0o600)
        box.trace_path.unlink()


def test_argv(box):
    replay(box, EVENTS)
    trace = box.trace()
    argv = trace.string(trace.run["argv"])
    expect_equal("arguments", argv, f"{box.program('replay')}\0events.txt\0")
    replay(box, EVENTS, env={"GPULEAK_ARGV": "0"})
    trace = box.trace()
    expect_equal("hidden arguments", trace.string(trace.run["argv"]), None)
    expect(b"events.txt" not in trace.bytes, "the trace has the argument somewhere")
    program = trace.string(trace.run["program"])
    expect_equal("program", program, str(box.program("replay").resolve()))
    expect_equal("folder", trace.string(trace.run["folder"]), str(box.folder.resolve()))


def test_unknown_variable(box):
    done = replay(box, EVENTS, env={"GPULEAK_SIZ": "32M", "GPULEAK_STACKS": "both"})
    one_line(done.stderr, "GPULEAK_SIZ=32M", "GPULEAK_STACKS=both")
    three_steps(box)
    done = replay(box, EVENTS, env={"GPULEAK_SIZ": "32M", "GPULEAK_QUIET": "1"})
    expect_equal("quiet", done.stderr, "")


def test_sizes(box):
    """Too small or too large: no trace and one line.  No size at all: one line, the default."""
    for size in ("1K", "0", "4096G"):
        done = replay(box, EVENTS, env={"GPULEAK_SIZE": size})
        one_line(done.stderr, "not recording")
        expect_equal(f"files with {size}", box.files(), ["events.txt"])
    done = replay(box, EVENTS, env={"GPULEAK_SIZE": "4M", "GPULEAK_RING": "4M"})
    one_line(done.stderr, "GPULEAK_RING")
    for size in ("banana", "-1", "99999999999999999999999999", "1.5G", ""):
        done = replay(box, EVENTS, env={"GPULEAK_SIZE": size})
        one_line(done.stderr, f"GPULEAK_SIZE={size}")
        expect_equal("size", box.trace_path.stat().st_size, 64 << 20)
        box.trace_path.unlink()
    for size in ("2M", "2048K", "2097152", "2MiB"):
        replay(box, EVENTS, env={"GPULEAK_SIZE": size})
        expect_equal(f"size {size}", box.trace_path.stat().st_size, 2 << 20)
        box.trace_path.unlink()


def test_long_names(box):
    """A file name that is too long for the system: no trace and one line."""
    done = replay(box, EVENTS, env={"GPULEAK_OUT": "x" * 300})
    one_line(done.stderr, "not recording")
    done = replay(box, EVENTS, env={"GPULEAK_OUT": "x/" * 3000})
    expect_equal("lines", len(done.stderr.splitlines()), 1)


def test_blocks_are_allocated(box):
    """The file has no holes: a full disk shows at the start, not as a SIGBUS later."""
    replay(box, EVENTS, env={"GPULEAK_SIZE": "8M"})
    blocks = box.trace_path.stat().st_blocks * 512
    expect(blocks >= 8 << 20, f"{blocks} bytes are allocated of {8 << 20}")


def test_relative_to_the_start(box):
    """The folder where the program started counts, not where it is at its first event."""
    (box.folder / "elsewhere").mkdir()
    box.run(["elsewhere", "elsewhere"])
    expect_equal("traces", box.traces(), ["trace.bin"])


if __name__ == "__main__":
    main(globals())
