"""The launcher with stand-ins for tracer, reader and simulated GPU (launcher_place.py).

    launcher_run.py LAUNCHER STAND_IN_LIBRARY [NAME of a test]...
"""

import fcntl
import os
import re
import shutil
import signal
import socket
import sys
from pathlib import Path

from launcher_place import LIBRARY, WRITE, Place, equal, run_tests, trace_bytes


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


def test_help_and_version():
    with Place() as place:
        for arguments in [["--help"], ["help"], ["help", "run"], ["run", "--help"], ["--version"]]:
            done = place.gpuleak(*arguments)
            equal((arguments, done.returncode, done.stderr), (arguments, 0, ""))
            assert done.stdout, arguments
        full = place.gpuleak("--version")
        assert re.fullmatch(r"gpuleak \d+\.\d+\.\d+\n", full.stdout), full.stdout


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
