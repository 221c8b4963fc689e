"""A disk that is full, read-only or not there: one line, and the program goes on.

Most of it mounts small file systems in a mount namespace of its own, as root; else it is skipped.
"""

import resource
import shlex
import subprocess

from books import simple_steps
from files import one_line
from target import Skip, expect, expect_equal, main

EVENTS = "\n".join(" ".join(map(str, event)) for event in simple_steps(3))


def limit_files(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def replay_small(box, env={}, **options):
    (box.folder / "events.txt").write_text(EVENTS)
    done = box.run(["replay", "events.txt"], env=env, **options)
    expect('"whole": true' in done.stdout, f"the program said {done.stdout!r}")
    return done


def in_namespace(box, mounts, env={}, after="true"):
    """Runs replay where `mounts` (shell commands) were done.

    The build folder is also seen as /mnt, since a mount may hide the place where it is.
    """
    (box.folder / "events.txt").write_text(EVENTS)
    build = box.programs.parents[1]
    setup = f"mount --bind {shlex.quote(str(build))} /mnt && {mounts}"
    probe = ["unshare", "--mount", "sh", "-c", setup]
    if subprocess.run(probe, stderr=subprocess.DEVNULL, cwd=box.folder).returncode:
        raise Skip("mounting isn't allowed here")
    environment = {
        **box.environment(False, **env),
        "LD_LIBRARY_PATH": "/mnt/tests/programs/fake",
    }
    traced = "LD_PRELOAD=/mnt/libgpuleak.so /mnt/tests/programs/replay <&3 3<&-"
    script = f"exec 3< events.txt; {setup} && {traced}; code=$?; {after}; exit $code"
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=box.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=100,
    )


def goes_on(done):
    expect_equal("exit code", done.returncode, 0)
    expect('"whole": true' in done.stdout, f"the program said {done.stdout!r} {done.stderr!r}")


def test_full_everywhere(box):
    """No folder has room: no trace, and nothing is left behind."""
    disk = "mount -t tmpfs -o size=1m none /tmp"
    env = {"GPULEAK_OUT": "/tmp/trace.bin", "TMPDIR": "/tmp"}
    done = in_namespace(box, disk, env, after="ls -A /tmp")
    goes_on(done)
    one_line(done.stderr, "no room for the trace", "not recording")
    expect_equal("lines of the program and files left", len(done.stdout.splitlines()), 1)


def test_full_folder(box):
    """The next folder is taken: $SLURM_TMPDIR, then $TMPDIR, and one line says which."""
    (box.folder / "disk").mkdir()
    for names in (("SLURM_TMPDIR", "TMPDIR"), ("TMPDIR",)):
        env = {name: str(box.folder / name) for name in names}
        for path in env:
            (box.folder / path).mkdir(exist_ok=True)
        env["GPULEAK_OUT"] = "disk/trace.bin"
        done = in_namespace(box, "mount -t tmpfs -o size=1m none disk", env)
        goes_on(done)
        one_line(done.stderr, f"the trace is {box.folder}/{names[0]}/trace.bin")
        expect_equal("marks", box.trace(f"{names[0]}/trace.bin").committed, 3)


def test_read_only_folder(box):
    (box.folder / "disk").mkdir()
    env = {"GPULEAK_OUT": "disk/trace.bin"}
    done = in_namespace(box, "mount -t tmpfs -o ro none disk", env)
    goes_on(done)
    one_line(done.stderr, "can't write", f"the trace is {box.folder}/trace.bin")
    expect_equal("marks", box.trace().committed, 3)


def test_folder_that_is_not_there(box):
    done = replay_small(box, env={"GPULEAK_OUT": "nowhere/run.bin"})
    one_line(done.stderr, "can't write", f"the trace is {box.folder}/run.bin")
    expect_equal("marks", box.trace("run.bin").committed, 3)


def test_no_proc(box):
    """Without /proc the arguments are unknown, no more."""
    done = in_namespace(box, "mount -t tmpfs none /proc")
    goes_on(done)
    expect_equal("standard error", done.stderr, "")
    trace = box.trace()
    expect_equal("marks", trace.committed, 3)
    expect_equal("arguments", trace.string(trace.run["argv"]), None)


def test_file_size_limit(box):
    """Past `ulimit -f` a write would kill the program: there is no trace then."""
    done = replay_small(box, preexec_fn=limit_files(1 << 20))
    one_line(done.stderr, "ulimit -f", "not recording")
    expect_equal("files", box.files(), ["events.txt"])


def test_file_size_limit_above(box):
    done = replay_small(box, preexec_fn=limit_files(4 << 20))
    expect_equal("standard error", done.stderr, "")
    expect_equal("marks", box.trace().committed, 3)


def test_no_descriptors_left(box):
    """The program used up all its descriptors: no trace, one line."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))
    (box.folder / "events.txt").write_text(EVENTS)
    done = box.run(["replay", "events.txt"], preexec_fn=limit)
    one_line(done.stderr, "not recording")
    expect_equal("files", box.files(), ["events.txt"])


def test_little_memory(box):
    """Address space for the program, not for the trace: no trace, one line."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
    (box.folder / "events.txt").write_text(EVENTS)
    done = box.run(["replay", "events.txt"], env={"GPULEAK_SIZE": "300M"}, preexec_fn=limit)
    one_line(done.stderr, "can't map the trace", "not recording")
    expect_equal("files", box.files(), ["events.txt"])


if __name__ == "__main__":
    main(globals())
