"""Each system call of the tracer's fails once: the program does what it does without it.

strace makes the calls fail, one a run; without strace, or where ptrace isn't allowed, skipped.
"""

import re
import shutil

from books import simple_steps
from target import Skip, expect, expect_equal, main

EVENTS = [*simple_steps(40), ("o", 0, 1 << 30, 3), ("p", "eval"), ("s",)]
CALLS = (
    "openat mmap munmap mremap madvise fallocate ftruncate pwrite64 flock fstat newfstatat statfs "
    "fstatfs readlink renameat2 rename link unlink close getcwd uname process_vm_readv write "
    "prlimit64 fcntl clone clone3 tgkill"
).split()
ERRORS = {
    "fallocate": "ENOSPC",
    "mmap": "ENOMEM",
    "mremap": "ENOMEM",
    "openat": "EMFILE",
    "process_vm_readv": "EPERM",
}


def under_strace(box, *options):
    log = box.folder / "strace.log"
    tracer = box.tracer
    return box.run(
        ["/usr/bin/env", "strace", "-o", log, *options, "-E", f"LD_PRELOAD={tracer}",
         box.program("replay"), "events.txt"],
        traced=False,
        code=None,
        env={"GPULEAK_SIZE": "1M"},
    )  # fmt: skip


def calls_after_the_start(box):
    """(call, how many of that name came before) for each call from the trace's making on."""
    counts, found, begun = {}, [], False
    for line in (box.folder / "strace.log").read_text().splitlines():
        match = re.match(r"(\w+)\((.*)", line)
        if not match:
            continue
        name, arguments = match.groups()
        counts[name] = counts.get(name, 0) + 1
        begun = begun or ".tmp" in arguments
        if begun and name in CALLS and not arguments.startswith("1, \"{"):
            found.append((name, counts[name]))
    return found


def test_quota(box):
    """The user's quota is used up, though the disk has room: another folder, or no trace."""
    if not shutil.which("strace"):
        raise Skip("strace isn't installed")
    (box.folder / "events.txt").write_text("\n".join(" ".join(map(str, e)) for e in EVENTS))
    whole = under_strace(box)
    if whole.returncode and "ptrace" in whole.stderr.lower():
        raise Skip("ptrace isn't allowed here")
    clean(box)
    full = under_strace(box, "-e", "inject=fallocate:error=EDQUOT")
    expect_equal("the program", (full.returncode, full.stdout), (0, whole.stdout))
    expect("no room for the trace: Disk quota exceeded" in full.stderr, full.stderr)
    expect("not recording" in full.stderr and full.stderr.count("\n") == 1, full.stderr)
    left = [path.name for path in box.folder.iterdir() if "trace" in path.name]
    expect_equal("files left", left, ["strace.log"] if "strace.log" in left else [])
    first = under_strace(box, "-e", "inject=fallocate:error=EDQUOT:when=1")
    expect_equal("the program", (first.returncode, first.stdout), (0, whole.stdout))
    expect("can't write" in first.stderr and first.stderr.count("\n") == 1, first.stderr)
    expect_equal("marks", box.trace().committed, 41)


def clean(box):
    for name in box.traces():
        (box.folder / name).unlink()


def test_each_call_fails(box):
    if not shutil.which("strace"):
        raise Skip("strace isn't installed")
    lines = "\n".join(" ".join(map(str, event)) for event in EVENTS)
    (box.folder / "events.txt").write_text(lines)
    plain = box.run(["replay", "events.txt"], traced=False)
    whole = under_strace(box)
    if whole.returncode and "ptrace" in whole.stderr.lower():
        raise Skip("ptrace isn't allowed here")
    expect_equal("under strace", whole.stdout, plain.stdout)
    calls = calls_after_the_start(box)
    names = {name for name, _ in calls}
    made_by = "ftruncate" if box.writer == "slots" else "fallocate"
    expect({"openat", "mmap", made_by, "renameat2"} <= names, f"only {names} were seen")
    for name, number in calls:
        clean(box)
        error = ERRORS.get(name, "EIO")
        done = under_strace(box, "-e", f"inject={name}:error={error}:when={number}")
        what = f"{name} number {number} failing with {error}"
        same = (done.returncode, done.stdout) == (0, plain.stdout)
        expect(same, f"{what}: exit {done.returncode}, {done.stdout!r}")
        ours = [line for line in done.stderr.splitlines() if not line.startswith("gpuleak: ")]
        expect_equal(f"foreign lines with {what}", ours, [])
        expect(len(done.stderr.splitlines()) <= 2, f"{what}: it says {done.stderr!r}")
        for trace in box.traces():
            if trace.endswith(".bin"):
                box.read(trace)


if __name__ == "__main__":
    main(globals())
