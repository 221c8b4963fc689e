"""A launcher as torchrun is one: it loads PyTorch, starts a process for each rank, and uses no GPU."""

import os
import subprocess
import sys

from tiny import Training

if len(sys.argv) > 1:
    Training().run(6)
    sys.exit(0)
children = []
for rank in range(2):
    env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}
    children.append(subprocess.Popen([sys.executable, __file__, "train"], env=env))
print([child.wait() for child in children])
