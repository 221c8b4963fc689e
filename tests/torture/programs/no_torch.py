"""A Python program that has nothing to do with PyTorch."""

# traces: 0

import json
import subprocess
import sys

print(json.dumps({"a": [1, 2]}), subprocess.getoutput("echo hello"))
subprocess.run([sys.executable, "-c", "print(1 + 1)"])
