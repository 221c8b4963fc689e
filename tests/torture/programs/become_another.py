"""Becomes another Python program in mid-training; that one trains as well, under the same pid."""

# traces: 2
# marks: 6

import os
import sys

from tiny import Training

Training().run(6)
if len(sys.argv) == 1:
    print("again", flush=True)
    os.execv(sys.executable, [sys.executable, __file__, "once more"])
print("done")
