"""A parent and two children, forked before CUDA is used: each trains by itself."""

import os
import sys

from tiny import Training

children = []
for number in range(2):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        Training().run(6 + number)
        sys.exit(number)
    children.append(pid)
Training().run(10)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children])
