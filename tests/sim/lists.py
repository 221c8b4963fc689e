#!/usr/bin/env python3
"""The lists have all that the installed PyTorch imports: lists.py REFRESH PYTHON"""
import os
import subprocess
import sys

refresh, python = sys.argv[1:]
find = "import importlib.util as u; s = u.find_spec('torch'); " \
       "print(s.submodule_search_locations[0] if s else '')"
try:
    torch = subprocess.run([python, "-c", find], capture_output=True, text=True).stdout.strip()
except OSError:
    torch = ""
if not torch:
    print(f"{python}: no PyTorch there")
    sys.exit(77)
folders = [torch] + [path for path in [os.path.join(os.path.dirname(torch), "torchvision")]
                     if os.path.isdir(path)]
sys.exit(subprocess.run([sys.executable, refresh, "--check", *folders]).returncode)
