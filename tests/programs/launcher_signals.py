"""Signals under the launcher: what is sent to it, what the terminal sends to all, what is ignored.

    launcher_signals.py LAUNCHER STAND_IN_LIBRARY [NAME of a test]...
"""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time

from launcher_place import Place, equal, run_tests

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


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
