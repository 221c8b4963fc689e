"""fork with and without exec, before and after CUDA is used; none of the children uses it."""

import os
import subprocess
import sys

import torch
from tiny import Training


def in_child(act):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = act() or 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def on_the_cpu():
    return int(torch.ones(10).sum()) + 1


def refused():
    try:
        torch.empty(10, device="cuda")
    except RuntimeError as error:
        return 21 if "fork" in str(error) else 22
    return 23


def other_program():
    os.execv("/bin/sh", ["sh", "-c", "exit 31"])


print("before", in_child(on_the_cpu), in_child(other_program))
training = Training()
for turn in range(8):
    training.turn()
    print(turn, in_child(on_the_cpu), in_child(refused), in_child(other_program))
print(subprocess.run(["sh", "-c", "echo $((6 * 7))"], capture_output=True, text=True).stdout)
print(subprocess.getoutput("uname"), os.system("exit 3"))
training.run(2)
