"""The launcher with stand-ins for tracer, reader and simulated GPU.

The programs that it runs here write their "traces" themselves; the reader is a
script that notes how it was called and exits as told.

    launcher_run.py LAUNCHER STAND_IN_LIBRARY [NAME of a test]...
"""

import fcntl
import os
import pty
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
from pathlib import Path

LAUNCHER = Path(sys.argv[1])
LIBRARY = Path(sys.argv[2])

REPORTER = """#!/bin/sh
printf '%s\\n' "$*" >> "$REPORT_CALLS"
case "$*" in
*--json*) echo '{"schema": "made up"}' ;;
*) echo THE REPORT ;;
esac
[ "$REPORT_SIGNAL" ] && kill -s "$REPORT_SIGNAL" $$
exit "${REPORT_CODE:-0}"
"""

# A program: an empty file, one section "run", and in it why nothing was seen.
HEADER = struct.Struct("<8sHHIIIQ")
SECTION = struct.Struct("<IIQQ")
RUN_KIND, RUN_SIZE, RUN_OFFSET, EMPTY_WHY, RUN_STARTED = 1, 104, 4096, 92, 96


def trace_bytes(empty: bool = False, started: int = 0) -> bytes:
    """As much of a trace as the launcher looks at."""
    header = HEADER.pack(b"GPULEAK\0", 1, 0, HEADER.size + 64 * SECTION.size, 0x01020304, 1, 8192)
    section = SECTION.pack(RUN_KIND, RUN_SIZE, RUN_OFFSET, RUN_SIZE)
    content = bytearray(8192)
    content[: len(header) + len(section)] = header + section
    if empty:
        struct.pack_into("<I", content, RUN_OFFSET + EMPTY_WHY, 7)
    struct.pack_into("<Q", content, RUN_OFFSET + RUN_STARTED, started)
    return bytes(content)


class Place:
    """A folder with gpuleak and its stand-ins in `build`, and an empty one to run in."""

    def __init__(self, build: str = "build"):
        self.top = Path(tempfile.mkdtemp(prefix="launcher-"))
        self.build = self.top / build
        self.here = self.top / "here"
        self.temporary = self.top / "tmp"
        for folder in (self.build / "sim/lib", self.here, self.temporary):
            folder.mkdir(parents=True)
        shutil.copy(LAUNCHER, self.build / "gpuleak")
        shutil.copy(LIBRARY, self.build / "libgpuleak.so")
        shutil.copy(LIBRARY, self.build / "sim/libgpuleak-sim.so")
        shutil.copy(LIBRARY, self.build / "sim/lib/libcudart.so.13")
        reporter = self.build / "gpuleak-report"
        reporter.write_text(REPORTER)
        reporter.chmod(0o755)
        (self.top / "whole").write_bytes(trace_bytes())
        (self.top / "empty").write_bytes(trace_bytes(empty=True))
        self.environment = {
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self.temporary),
            "REPORT_CALLS": str(self.top / "calls"),
            "WHOLE": str(self.top / "whole"),
            "EMPTY": str(self.top / "empty"),
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)

    def gpuleak(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.build / "gpuleak", *arguments],
            cwd=self.here,
            env={**self.environment, **environment},
            input="typed\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )

    def run(self, script: str, *options: str, **environment: str) -> subprocess.CompletedProcess:
        """Run a shell script under `gpuleak run`."""
        return self.gpuleak("run", *options, "--", "sh", "-c", script, **environment)

    def calls(self) -> list:
        """How the reader was called, a line each."""
        calls = self.top / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def reported(self) -> list:
        """Names of the traces in the reader's first call."""
        calls = self.calls()
        traces = calls[0].split("-- ", 1)[1].split() if calls else []
        return [Path(path).name for path in traces]

    def names(self) -> list:
        return sorted(path.name for path in self.here.iterdir())


WRITE = 'cp "$WHOLE" trace.bin; '


def equal(actual, expected):
    assert actual == expected, f"{actual!r}, expected {expected!r}"


def test_exit_codes():
    for script, code, expected in [
        (WRITE, 0, 0),
        (WRITE, 1, 101),
        (WRITE, 2, 102),
        (WRITE, 3, 103),
        (WRITE + "exit 7", 0, 7),
        (WRITE + "exit 7", 1, 7),
        (WRITE + "kill -KILL $$", 1, 137),
        (WRITE + "kill -TERM $$", 0, 143),
        ("exit 5", 0, 5),
        ("true", 0, 2),
    ]:
        with Place() as place:
            done = place.run(script, REPORT_CODE=str(code))
            assert done.returncode == expected, (script, code, done.returncode, done.stderr)


def test_program_that_cannot_start():
    with Place() as place:
        (place.here / "text").write_text("no program")
        done = place.gpuleak("run", "--", "./missing")
        equal(done.returncode, 127)
        equal(done.stderr, "gpuleak: cannot start ./missing: No such file or directory\n")
        equal(place.gpuleak("run", "--", "./text").returncode, 126)
        equal(place.calls(), [])


def test_report_that_dies():
    with Place() as place:
        done = place.run(WRITE, REPORT_SIGNAL="SEGV")
        equal(done.returncode, 102)
        assert "ended by signal 11" in done.stderr, done.stderr


def test_no_trace():
    with Place() as place:
        done = place.run("true")
        equal(done.returncode, 2)
        equal(place.calls(), [])
        equal(done.stderr.count("\n"), 1)
        done = place.gpuleak("run", "--sim", "--", "sh", "-c", "true")
        assert "ended without using a GPU" in done.stderr, done.stderr


def test_only_yesterdays_trace():
    with Place() as place:
        (place.here / "trace.bin").write_bytes(trace_bytes())
        done = place.run("true")
        equal(done.returncode, 2)
        equal(place.calls(), [])
        equal(place.names(), ["trace.bin.old"])


def test_old_traces_keep_their_content():
    with Place() as place:
        for name, mark in [("trace.bin", b"3"), ("trace.bin.old", b"1"), ("trace.bin.old.2", b"2")]:
            (place.here / name).write_bytes(trace_bytes() + mark)
        (place.here / "trace.4711.bin").write_bytes(trace_bytes() + b"4")
        done = place.run(WRITE)
        equal(done.returncode, 0)
        marks = {name: (place.here / name).read_bytes()[8192:] for name in place.names()}
        equal(
            marks,
            {
                "trace.4711.bin.old": b"4",
                "trace.bin": b"",
                "trace.bin.old": b"1",
                "trace.bin.old.2": b"2",
                "trace.bin.old.3": b"3",
            },
        )
        equal(place.reported(), ["trace.bin"])


def test_trace_of_a_living_writer_is_not_touched():
    with Place() as place:
        path = place.here / "trace.bin"
        path.write_bytes(trace_bytes())
        with open(path, "rb+") as writer:
            fcntl.flock(writer, fcntl.LOCK_EX)
            done = place.run('cp "$WHOLE" trace.99.bin')
            equal(done.returncode, 0)
            equal(place.names(), ["trace.99.bin", "trace.bin"])
            equal(place.reported(), ["trace.99.bin"])
            equal(os.fstat(writer.fileno()).st_ino, path.stat().st_ino)


def test_trace_still_written_is_not_reported():
    hold = "exec 9<>trace.bin; flock -x 9; (exec sleep 60) >/dev/null 2>&1 & echo $! > pid"
    if not shutil.which("flock"):
        return
    with Place() as place:
        done = place.run(WRITE + hold)
        pid = int((place.here / "pid").read_text())
        try:
            equal(done.returncode, 2)
            assert "still writes" in done.stderr and "trace.bin" in done.stderr, done.stderr
            equal(place.calls(), [])
        finally:
            os.kill(pid, signal.SIGKILL)


def test_files_that_are_no_traces_stay():
    with Place() as place:
        (place.here / "model.bin").write_bytes(b"weights of a model")
        (place.here / "trace.7.bin").write_bytes(b"weights of a model")
        os.mkfifo(place.here / "pipe.bin")
        done = place.run('cp "$WHOLE" sh.bin', "--out", "%e.bin")
        equal(done.returncode, 0)
        equal(place.names(), ["model.bin", "pipe.bin", "sh.bin", "trace.7.bin"])
        equal(place.reported(), ["sh.bin"])


def test_several_processes():
    names = ["trace.bin", "trace.812.bin", "trace.rank2.bin", "trace.rank10.bin", "trace.rank2.9.bin"]
    others = ["trace.bin.txt", "trace.x.bin", "xtrace.bin", "trace.rank.bin"]
    with Place() as place:
        done = place.run("".join(f'cp "$WHOLE" {name}; ' for name in names + others))
        equal(done.returncode, 0)
        reported = place.reported()
        equal(sorted(reported), sorted(names))
        assert reported.index("trace.rank2.bin") < reported.index("trace.rank10.bin"), reported


def test_two_runs_at_once():
    """Each reports its own, and what doesn't say; a run within another is of that one."""
    with Place() as place:
        for number in (1111, 2222):
            (place.top / f"of{number}").write_bytes(trace_bytes(started=number))
        script = f"cp {place.top}/of1111 trace.1.bin; cp {place.top}/of2222 trace.2.bin; "
        done = place.run(script + 'cp "$WHOLE" trace.3.bin', GPULEAK_RUN_STARTED="1111")
        equal(done.returncode, 0)
        equal(sorted(place.reported()), ["trace.1.bin", "trace.3.bin"])
    with Place() as place:
        (place.top / "of1111").write_bytes(trace_bytes(started=1111))
        done = place.run(f"cp {place.top}/of1111 trace.bin; echo $GPULEAK_RUN_STARTED")
        equal(done.returncode, 2)
        assert int(done.stdout) > 10**18, done.stdout
        equal(place.calls(), [])


def test_names_with_fields():
    host = socket.gethostname()
    for out, written, other in [
        ("%p.trace", "123.trace", "x.trace"),
        ("r%r.bin", "r3.bin", "rx.bin"),
        ("r%r.bin", "r.bin", "rr.bin"),
        ("%h-%e.bin", f"{host}-python3.11.bin", "otherhost-python3.11.bin"),
        ("100%%.bin", "100%.bin", "100.bin"),
        ("a[1].bin", "a[1].77.bin", "a1.bin"),
        ("plain", "plain.55", "plainer"),
    ]:
        with Place() as place:
            done = place.run(f"cp \"$WHOLE\" '{written}'; cp \"$WHOLE\" '{other}'", "--out", out)
            equal((out, place.reported()), (out, [written]))
            equal(done.returncode, 0)
            place.run("true", GPULEAK_OUT=out)
            assert written + ".old" in place.names(), place.names()


def test_out_reaches_the_program():
    with Place() as place:
        show = 'echo "$GPULEAK_OUT|$GPULEAK_SIM_DEVICES|$GPULEAK_SIM_MEMORY"'
        equal(place.run(show, "--out", "a.bin").stdout, f"{place.here}/a.bin||\n")
        equal(place.run(show, "--out", "/x/%p").stdout, "/x/%p||\n")
        equal(place.run(show, GPULEAK_OUT="b.bin").stdout, f"{place.here}/b.bin||\n")
        equal(place.run(show).stdout, f"{place.here}/||\n")
        shown = place.run(show, "--sim", "--devices", "2", "--memory", "8G").stdout
        equal(shown, f"{place.here}/|2|8G\n")
        equal(place.run(show, "--no-trace").stdout, "||\n")


def test_out_is_a_folder():
    with Place() as place:
        (place.here / "traces").mkdir()
        done = place.run('cp "$WHOLE" traces/trace.rank1.bin', "--out", "traces/")
        equal((done.returncode, place.reported()), (0, ["trace.rank1.bin"]))


def test_fallback_folder():
    with Place() as place:
        (place.temporary / "trace.bin").write_bytes(trace_bytes())
        done = place.run('cp "$WHOLE" "$TMPDIR/trace.12.bin"')
        equal(done.returncode, 0)
        equal(place.reported(), ["trace.12.bin"])
        assert (place.temporary / "trace.bin").exists()


def test_processes_without_gpu():
    with Place() as place:
        done = place.run('cp "$EMPTY" trace.bin', "--sim")
        equal(done.returncode, 2)
        equal(place.calls(), [])
        assert "put nothing on a GPU" in done.stderr, done.stderr
        done = place.run('cp "$EMPTY" trace.bin; cp "$WHOLE" trace.5.bin')
        equal(done.returncode, 0)
        equal(place.reported(), ["trace.5.bin"])


def loaded(output: str) -> list:
    """Stand-ins among the lines of /proc/PID/maps, by file name, each once."""
    names = re.findall(r"/(libgpuleak\.so|libgpuleak-sim\.so|libcudart\.so\.13)$", output, re.M)
    return sorted(set(names))


MAPS = WRITE + "exec cat /proc/self/maps"


def test_libraries_are_loaded():
    with Place() as place:
        equal(loaded(place.run(MAPS).stdout), ["libgpuleak.so"])
        both = ["libgpuleak-sim.so", "libgpuleak.so"]
        equal(loaded(place.run(MAPS, "--sim", GPULEAK_SIM_LOADER="audit").stdout), both)
        shown = place.run(MAPS, "--sim", GPULEAK_SIM_LOADER="preload").stdout
        equal(loaded(shown), ["libcudart.so.13", "libgpuleak.so"])


def test_no_trace_option():
    with Place() as place:
        (place.here / "trace.bin").write_bytes(trace_bytes())
        done = place.run("cat /proc/self/maps; exit 3", "--no-trace", "--sim",
                         GPULEAK_SIM_LOADER="audit", LD_PRELOAD=str(place.build / "libgpuleak.so"))
        equal(done.returncode, 3)
        equal(loaded(done.stdout), ["libgpuleak-sim.so"])
        equal(place.names(), ["trace.bin"])
        equal(place.calls(), [])


def test_room_for_thread_local_variables():
    """A preloaded library with many of them would keep a program with an audit library from starting."""
    show = 'echo "$GLIBC_TUNABLES"'
    ours = "glibc.rtld.optional_static_tls=16384"
    with Place() as place:
        for held, expected in [
            ({}, ours),
            ({"GLIBC_TUNABLES": ""}, ours),
            ({"GLIBC_TUNABLES": "glibc.malloc.check=1"}, f"glibc.malloc.check=1:{ours}"),
            ({"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=9999"},
             "glibc.rtld.optional_static_tls=9999"),
        ]:
            shown = place.run(show, "--sim", GPULEAK_SIM_LOADER="audit", **held).stdout
            equal(shown, f"{expected}\n")
        equal(place.run(show).stdout, "\n")
        equal(place.run(show, "--sim", GPULEAK_SIM_LOADER="preload").stdout, "\n")


def test_preloads_of_the_user_stay():
    show = 'echo "$LD_PRELOAD|$LD_AUDIT"'
    with Place() as place:
        mine = place.build / "libgpuleak.so"
        sim = place.build / "sim/libgpuleak-sim.so"
        for held, expected in [
            ("libm.so.6", f"{mine}:libm.so.6"),
            ("libm.so.6:libdl.so.2 libc.so.6", f"{mine}:libm.so.6:libdl.so.2:libc.so.6"),
            (f"libm.so.6:{mine}", f"{mine}:libm.so.6"),
            ("", f"{mine}"),
        ]:
            shown = place.run(show, LD_PRELOAD=held).stdout
            equal(shown, f"{expected}|\n")
        # The run-time of a sanitizer ends a program in which it isn't the first library.
        shown = place.run(show, LD_PRELOAD="/x/libasan.so.8:/x/libm.so").stdout
        equal(shown, f"/x/libasan.so.8:{mine}:/x/libm.so|\n")
        other = place.top / "other.so"
        shutil.copy(LIBRARY, other)
        shown = place.run(show, "--sim", GPULEAK_SIM_LOADER="audit", LD_AUDIT=str(other)).stdout
        equal(shown, f"{mine}|{sim}:{other}\n")


def test_paths_that_the_loader_cannot_take():
    for build in ["with space", "with:colon", "with$ORIGIN"]:
        with Place(build) as place:
            done = place.run(MAPS, "--sim", GPULEAK_SIM_LOADER="audit")
            equal((done.returncode, done.stderr), (0, "THE REPORT\n"))
            equal(loaded(done.stdout), ["libgpuleak-sim.so", "libgpuleak.so"])
            lib = place.gpuleak("lib").stdout.rstrip("\n")
            assert not re.search(r"[ :$]", lib), lib
            equal(Path(lib).resolve(), (place.build / "libgpuleak.so").resolve())


def test_link_folder_of_others_is_refused():
    with Place("with space") as place:
        links = place.temporary / f"gpuleak-{os.geteuid()}"
        links.mkdir()
        links.chmod(0o777)
        done = place.run(WRITE)
        equal(done.returncode, 2)
        equal(done.stderr.count("\n"), 1)
        assert str(links) in done.stderr, done.stderr
        links.rmdir()
        links.symlink_to(place.here)
        equal(place.run(WRITE).returncode, 2)
        equal(place.names(), [])


def test_lib():
    with Place() as place:
        done = place.gpuleak("lib")
        equal((done.returncode, done.stdout), (0, f"{place.build / 'libgpuleak.so'}\n"))
        (place.build / "libgpuleak.so").unlink()
        done = place.gpuleak("lib")
        equal((done.returncode, done.stdout), (2, ""))
        assert "libgpuleak.so is neither in" in done.stderr, done.stderr


def test_installed():
    with Place("bin") as place:
        tracer = (place.build / "libgpuleak.so").read_bytes()
        (place.build / "libgpuleak.so").unlink()
        shutil.move(place.build / "sim", place.top / "sim")
        said = place.gpuleak("lib").stderr
        libraries = Path(re.search(r"nor in (.*/gpuleak):", said)[1])
        libraries.resolve().mkdir(parents=True)
        shutil.move(place.top / "sim", libraries.resolve() / "sim")
        (libraries / "libgpuleak.so").write_bytes(tracer)
        done = place.gpuleak("lib")
        equal((done.stdout, done.returncode), (f"{libraries.resolve() / 'libgpuleak.so'}\n", 0))
        both = ["libgpuleak-sim.so", "libgpuleak.so"]
        equal(loaded(place.run(MAPS, "--sim", GPULEAK_SIM_LOADER="audit").stdout), both)


def test_streams_stay_the_programs():
    with Place() as place:
        done = place.run("cat; echo out; echo err >&2; " + WRITE)
        equal(done.stdout, "typed\nout\n")
        equal(done.stderr, "err\nTHE REPORT\n")


def test_report_and_json_to_files():
    with Place() as place:
        done = place.run(WRITE, "--report-to", "r.txt", "--json", "r.json", REPORT_CODE="1")
        equal((done.returncode, done.stdout, done.stderr), (101, "", ""))
        equal((place.here / "r.txt").read_text(), "THE REPORT\n")
        equal((place.here / "r.json").read_text(), '{"schema": "made up"}\n')
        # Yesterday's report doesn't pass for today's.
        equal(place.run("true", "--json", "r.json").returncode, 2)
        equal((place.here / "r.json").read_text(), "")
        done = place.run("touch ran", "--json", "no/folder.json")
        equal(done.returncode, 2)
        assert "ran" not in place.names()


def test_options_of_the_report():
    with Place() as place:
        place.run(WRITE, "--fail-on", "leak,growing", "--require-steps", "200", "--all",
                  "--user-code", "my*", "--user-code", "ours")
        equal(len(place.calls()), 1)
        options = place.calls()[0].split(" -- ")[0].split()
        equal(options, ["--all", "--fail-on=leak,growing", "--require-steps=200",
                        "--user-code=my*", "--user-code=ours"])


def test_bad_command_lines():
    with Place() as place:
        for arguments in [
            ["run"],
            ["run", "--"],
            ["run", "--nonsense", "--", "touch", "ran"],
            ["run", "--out"],
            ["run", "--devices", "2", "--", "touch", "ran"],
            ["run", "--sim", "--devices", "two", "--", "touch", "ran"],
            ["run", "--sim", "--memory", "much", "--", "touch", "ran"],
            ["run", "--require-steps", "-1", "--", "touch", "ran"],
            ["nonsense"],
        ]:
            done = place.gpuleak(*arguments)
            equal((arguments, done.returncode), (arguments, 2))
            equal((arguments, done.stderr.count("\n")), (arguments, 1))
            assert done.stderr.startswith("gpuleak: "), done.stderr
        equal(place.names(), [])
        equal(place.gpuleak().returncode, 2)


def test_options_of_the_program_are_its_own():
    with Place() as place:
        done = place.gpuleak("run", "--no-trace", "printf", "%s ", "--all", "--json")
        equal((done.returncode, done.stdout, done.stderr), (0, "--all --json ", ""))


def test_control_characters_are_tamed():
    with Place() as place:
        done = place.gpuleak("run", "--", "./a\x1b[31m\nb")
        assert "\x1b" not in done.stderr and done.stderr.count("\n") == 1, repr(done.stderr)


SIGNAL_PROGRAM = """
import os, shutil, signal, sys, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
if sys.argv[1] == "apart":
    if os.fork() == 0:
        signal.sigwait({signal.SIGINT})
        open("witness", "w").close()
        os._exit(0)
    os.setpgid(0, 0)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
def note(number, frame):
    with open("signals", "a") as file:
        print(signal.Signals(number).name, file=file)
for name in ["SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2"]:
    signal.signal(getattr(signal, name), note)
print("ready", flush=True)
end = time.monotonic() + 30
while not os.path.exists("end") and time.monotonic() < end:
    time.sleep(0.01)
shutil.copy(os.environ["WHOLE"], "trace.bin")
"""


class Signalled:
    """A program under the launcher that notes the signals it gets until it is told to end.

    `apart`: it leaves the terminal's foreground group, and a child of it stays there.
    """

    def __init__(self, place: Place, group: str = "same", **options):
        self.place = place
        (place.here / "program.py").write_text(SIGNAL_PROGRAM)
        self.launcher = subprocess.Popen(
            [place.build / "gpuleak", "run", "--", sys.executable, "program.py", group],
            cwd=place.here, env=place.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options)
        equal(self.launcher.stdout.readline(), "ready\n")

    def got(self) -> list:
        signals = self.place.here / "signals"
        return signals.read_text().split() if signals.exists() else []

    def wait_for(self, name: str):
        end = time.monotonic() + 30
        while name not in self.got() and time.monotonic() < end:
            assert self.launcher.poll() is None
            time.sleep(0.01)
        assert name in self.got(), self.got()

    def end(self) -> tuple:
        (self.place.here / "end").touch()
        _, err = self.launcher.communicate(timeout=60)
        return self.launcher.returncode, err


def test_signals_to_the_launcher_reach_the_program():
    with Place() as place:
        running = Signalled(place)
        for name in ["SIGTERM", "SIGUSR1", "SIGHUP", "SIGINT"]:
            running.launcher.send_signal(getattr(signal, name))
            running.wait_for(name)
        equal(running.end(), (0, "THE REPORT\n"))


def own_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_control_c_reaches_the_program():
    with Place() as place:
        ours, theirs = pty.openpty()
        running = Signalled(place, stdin=theirs, preexec_fn=own_terminal)
        os.close(theirs)
        os.write(ours, b"\x03")
        running.wait_for("SIGINT")
        equal(running.end(), (0, "THE REPORT\n"))
        os.close(ours)


def test_control_c_is_not_passed_on():
    """The terminal has sent it to everybody; once more, it would interrupt a clean-up."""
    with Place() as place:
        ours, theirs = pty.openpty()
        running = Signalled(place, "apart", stdin=theirs, preexec_fn=own_terminal)
        os.close(theirs)
        os.write(ours, b"\x03")
        while not (place.here / "witness").exists():
            assert running.launcher.poll() is None
            time.sleep(0.01)
        # Signals are passed on in their order: a SIGINT would be there first.
        running.launcher.send_signal(signal.SIGUSR2)
        running.wait_for("SIGUSR2")
        equal(running.got(), ["SIGUSR2"])
        equal(running.end(), (0, "THE REPORT\n"))
        os.close(ours)


def test_ignored_signals_stay_ignored():
    show = "import re; print(re.search('SigIgn:.*', open('/proc/self/status').read())[0])"
    show += "; print(re.search('SigBlk:.*', open('/proc/self/status').read())[0])"
    with Place() as place:
        before = subprocess.run(["env", "--ignore-signal=HUP", sys.executable, "-c", show],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        within = subprocess.run(
            ["env", "--ignore-signal=HUP", place.build / "gpuleak", "run", "--no-trace", "--",
             sys.executable, "-c", show], stdout=subprocess.PIPE, text=True, check=True).stdout
        equal(within, before)


def test_help_and_version():
    with Place() as place:
        for arguments in [["--help"], ["help"], ["help", "run"], ["run", "--help"], ["--version"]]:
            done = place.gpuleak(*arguments)
            equal((arguments, done.returncode, done.stderr), (arguments, 0, ""))
            assert done.stdout, arguments
        full = place.gpuleak("--version")
        assert re.fullmatch(r"gpuleak \d+\.\d+\.\d+\n", full.stdout), full.stdout


def main() -> int:
    wanted = sys.argv[3:]
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    failed = 0
    for name, test in tests.items():
        if wanted and name not in wanted:
            continue
        try:
            test()
        except Exception:  # noqa: BLE001 - each test is told of
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc()
    print(f"{len(tests)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
