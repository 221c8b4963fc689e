"""Many runs from one Python under the tracer: PyTorch and its compiler, which the first optimizer
step imports, are imported once, and each run is a child that is forked before CUDA is used.

To import them takes longer than most programs of the tests. What belongs to the start and the end
of a process is tested by tests/torture, tests/real and, with --long, by each program on its own.
"""

import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import ExitStack
from pathlib import Path

from harness import TIMEOUT_S, Failure, Setup, tail


class Nursery:
    """The process that runs are forked from, with the simulated GPU and settings of all of them."""

    def __init__(self, setup: Setup, env: dict, parent, start_in, **how):
        self.start_in = start_in
        self.folder = tempfile.TemporaryDirectory(prefix="gpuleak-", dir=parent)
        self.here = Path(self.folder.name)
        command = setup.run_command([Path(__file__).resolve()], **how)
        environment = {**os.environ, "GPULEAK_OUT": str(self.here / "%p.bin"), **env}
        self.errors = open(self.here / "stderr", "w+")
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd=start_in or self.here,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(TIMEOUT_S)
        self.errors.close()
        self.folder.cleanup()

    def execute(self, words: list, out: Path, env: dict) -> subprocess.CompletedProcess:
        output = [self.here / name for name in ("out", "err")]
        ask = {
            "words": [str(word) for word in words],
            "env": env,
            "folder": str(self.start_in or out.parent),
            "output": [str(path) for path in output],
        }
        try:
            self.process.stdin.write(json.dumps(ask) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.errors.seek(0)
            raise Failure(f"no run could be forked\n{tail(self.errors.read())}")
        pid, code = json.loads(answer)
        trace = self.here / f"{pid}.bin"
        if trace.exists():
            trace.rename(out)
        said = [path.read_text(errors="replace") for path in output]
        return subprocess.CompletedProcess(words, code, *said)


class Runs:
    """Runs of `python WORDS`, from one nursery for all that need the same simulated GPU. `env`: what
    the tracer reads once; `parent`: a folder on the file system that the traces are to be on;
    `start_in`: where they run, else where their trace is to be."""

    def __init__(self, setup: Setup, env: dict = {}, parent=None, start_in=None):
        self.setup, self.env, self.parent, self.start_in = setup, env, parent, start_in
        self.nurseries, self.open = {}, ExitStack()

    def __enter__(self) -> "Runs":
        return self

    def __exit__(self, *_) -> None:
        self.open.close()

    def execute(self, words: list, out: Path, env: dict = {}, **how) -> subprocess.CompletedProcess:
        """As Setup.execute(); the exit code is the program's own. `how` is for run_command()."""
        key = tuple(sorted((name, value) for name, value in how.items() if value is not None))
        if key not in self.nurseries:
            nursery = Nursery(self.setup, self.env, self.parent, self.start_in, **how)
            self.nurseries[key] = self.open.enter_context(nursery)
        return self.nurseries[key].execute(words, out, env)


def redirect(paths: list) -> None:
    for number, path in enumerate(["/dev/null", *paths]):
        how = os.O_RDWR | (os.O_CREAT | os.O_TRUNC if number else 0)
        opened = os.open(path, how, 0o600)
        os.dup2(opened, number)
        os.close(opened)


def run(ask: dict) -> int:
    """In the child: the program, as Python would run it."""
    redirect(ask["output"])
    os.chdir(ask["folder"])
    os.environ.update(ask["env"])
    sys.argv = ask["words"]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    try:
        runpy.run_path(os.path.abspath(sys.argv[0]), run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def leave(code: int) -> None:
    """What Python does at its end, but for tearing PyTorch down, which takes a second."""
    threading._shutdown()
    gc.freeze()
    sys.exit(code)


def serve() -> None:
    for line in sys.stdin:
        ask = json.loads(line)
        pid = os.fork()
        if pid == 0:
            leave(run(ask))
        status = os.waitpid(pid, 0)[1]
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        print(json.dumps([pid, code]), flush=True)


if __name__ == "__main__":
    gc.disable()
    import torch._dynamo  # noqa: F401

    gc.enable()
    serve()
    os._exit(0)
