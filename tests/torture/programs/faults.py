"""faulthandler: a dump of all stacks in mid-training, then a real crash with its report."""

# exit: -11

import faulthandler
import sys

import torch
from tiny import Training

faulthandler.enable()
training = Training()
training.run(6)
faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
torch.empty(1000, device="cuda")
print("crashing", flush=True)
faulthandler._sigsegv()
