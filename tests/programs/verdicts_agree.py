"""Each transcript in docs/verdicts.md is what gpuleak prints of docs/examples/verdicts.py.

    verdicts_agree.py --build FOLDER [--python PYTHON] [--update]

Process numbers, host and times may differ.  --update writes new transcripts.  Exit 77 where
the PyTorch of the transcripts isn't there.
"""

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from readme_agrees import ROOT, SKIP, leave_out_what_varies

sys.path.insert(0, str(ROOT / "tests/corpus"))
from forked import Runs  # noqa: E402
from harness import Setup  # noqa: E402

PAGE = ROOT / "docs/verdicts.md"
EXAMPLE = "docs/examples/verdicts.py"
BLOCK = re.compile(rf"^```\n\$ gpuleak run --sim -- python {re.escape(EXAMPLE)} (\w+)\n(.*?)^```$",
                   re.M | re.S)


def run_example(runs: Runs, folder: Path, name: str) -> str:
    """What the example prints, and then the report: `gpuleak run` with its own, readme_agrees.py."""
    trace = folder / f"{name}.bin"
    done = runs.execute([EXAMPLE, name], trace)
    report = subprocess.run([runs.setup.report, trace], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0 or report.returncode not in (0, 1, 3):
        sys.exit(f"{name} ended with {done.returncode}:\n{done.stdout}{done.stderr}{report.stdout}")
    return done.stdout + done.stderr + report.stdout


def shorten(output: str) -> str:
    """Without the line about the run, the process's size, and what is the same in all of them."""
    without = ("verdicts.py, pid", "forked.py, pid", "        resident ", "Nothing was")
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

    setup, failed = Setup(arguments.build.resolve(), arguments.python, True), 0
    with tempfile.TemporaryDirectory() as folder, Runs(setup, start_in=ROOT) as runs:
        outputs = [run_example(runs, Path(folder), block[1]) for block in blocks]
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
