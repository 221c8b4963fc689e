"""py-spy reads the process's memory from outside, stopping it and not, while it allocates."""

# needs: py-spy

import os
import shutil
import subprocess
import sys
import threading

import torch
from tiny import Training

training = Training()
training.run(5)
ended = threading.Event()


def allocate():
    while not ended.is_set():
        torch.empty(100, device="cuda")


thread = threading.Thread(target=allocate)
thread.start()
py_spy = shutil.which("py-spy", path=":".join(os.path.join(path, "bin") for path in sys.path))
environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
for extra in ([], ["--nonblocking"]):
    command = [py_spy, "dump", "--pid", str(os.getpid()), *extra]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    print(extra, done.returncode == 0 and "allocate (" in done.stdout or done.stderr)
ended.set()
thread.join()
training.run(5)
