"""The transcript in README.md is what the demo prints.

    readme_agrees.py --build FOLDER [--python PYTHON] [--update]

Process numbers, host and times may differ.  --update writes a new transcript.  Exit 77 where
the PyTorch of the transcript isn't there.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
ROOT = Path(__file__).resolve().parents[2]
COMMAND = "build/gpuleak run --sim -- build/venv/bin/python docs/examples/train.py"
TIME = r"(?:\d+ (?:h|min) )*[\d.,]+ (?:ms|s|min|h|days)\b"


def transcript(readme: str) -> re.Match:
    """The code block that begins with the command."""
    return re.search(rf"^```\n\$ {re.escape(COMMAND)}\n(.*?)^```$", readme, re.M | re.S)


def leave_out_what_varies(text: str) -> list:
    text = re.sub(r"pid \d+ on \S+:", "pid N on HOST:", text)
    text = re.sub(rf"in {TIME}( at this pace)?$", r"in TIME\1", text, flags=re.M)
    return text.splitlines()


def run_demo(build: Path, python: Path) -> str:
    words = COMMAND.split()
    words[0], words[words.index("build/venv/bin/python")] = str(build / "gpuleak"), str(python)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "GPULEAK_OUT": f"{folder}/trace.bin"}, text=True,
                              timeout=100)
    if done.returncode != 101:
        sys.exit(f"the demo ended with {done.returncode}, not with a leak's 101:\n{done.stdout}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--python", type=Path, default=ROOT / "build/venv/bin/python")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    readme = ROOT / "README.md"
    text = readme.read_text()
    shown = transcript(text)
    if not shown:
        print(f"README.md has no transcript of {COMMAND}")
        return 1
    if not arguments.python.exists():
        print(f"skipped: no Python with PyTorch at {arguments.python}")
        return SKIP

    output = run_demo(arguments.build.resolve(), arguments.python)
    if arguments.update:
        readme.write_text(text[: shown.start(1)] + output + text[shown.end(1) :])
        return 0
    version = r"PyTorch [\d.]+"
    if re.findall(version, output) != re.findall(version, shown[1]):
        print("skipped: the transcript is of another PyTorch")
        return SKIP
    difference = list(difflib.unified_diff(
        leave_out_what_varies(shown[1]), leave_out_what_varies(output),
        "README.md", "the demo", lineterm=""))
    print("\n".join(difference))
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
