"""Each transcript in docs/verdicts.md is what gpuleak prints of docs/examples/verdicts.py.

    verdicts_agree.py --build FOLDER [--python PYTHON] [--update]

Process numbers, host and times may differ.  --update writes new transcripts.  Exit 77 where
the PyTorch of the transcripts isn't there.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from readme_agrees import ROOT, SKIP, leave_out_what_varies

PAGE = ROOT / "docs/verdicts.md"
EXAMPLE = "docs/examples/verdicts.py"
BLOCK = re.compile(rf"^```\n\$ gpuleak run --sim -- python {re.escape(EXAMPLE)} (\w+)\n(.*?)^```$",
                   re.M | re.S)


def run_example(build: Path, python: Path, name: str) -> str:
    words = [build / "gpuleak", "run", "--sim", "--fail-on", "none", "--", python, EXAMPLE, name]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "GPULEAK_OUT": f"{folder}/trace.bin"}, text=True,
                              timeout=200)
    if done.returncode != 0:
        sys.exit(f"{name} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def shorten(output: str) -> str:
    """Without the line about the run, the process's size, and what is the same in all of them."""
    without = ("verdicts.py, pid", "        resident ", "Nothing was")
    text = "".join(line for line in output.splitlines(keepends=True) if not line.startswith(without))
    return text.rstrip() + "\n"


def label_agrees(page: str, at: int, output: str) -> bool:
    """The section that the transcript stands in is about the verdict that it shows."""
    heading = re.findall(r"^## (\w+)", page[:at], re.M)[-1]
    return output.split()[0] == heading


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--python", type=Path, default=ROOT / "build/venv/bin/python")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    page = PAGE.read_text()
    blocks = list(BLOCK.finditer(page))
    if len(blocks) < 10:
        print(f"{PAGE.name} has {len(blocks)} transcripts")
        return 1
    if not arguments.python.exists():
        print(f"skipped: no Python with PyTorch at {arguments.python}")
        return SKIP

    build, failed = arguments.build.resolve(), 0
    with ThreadPoolExecutor(2) as pool:
        outputs = list(pool.map(lambda b: run_example(build, arguments.python, b[1]), blocks))
    if "PyTorch 2.15.0" not in outputs[0]:
        print("skipped: the transcripts are of PyTorch 2.15.0")
        return SKIP
    for block, output in reversed(list(zip(blocks, outputs))):
        output = shorten(output)
        if not label_agrees(page, block.start(), output):
            print(f"{block[1]} is shown in a section on another verdict: {output.split()[0]}")
            failed = 1
        if arguments.update:
            page = page[: block.start(2)] + output + page[block.end(2) :]
            continue
        difference = list(difflib.unified_diff(
            leave_out_what_varies(block[2]), leave_out_what_varies(output),
            f"{PAGE.name}, {block[1]}", "what it prints", lineterm=""))
        print("\n".join(difference))
        failed |= bool(difference)
    if arguments.update:
        PAGE.write_text(page)
    return failed


if __name__ == "__main__":
    sys.exit(main())
