#!/usr/bin/env python3
"""Runs the commands of README's CI jobs for a training that leaks, one that doesn't and one that
is too short. gpuleak is cloned from this checkout, as committed, and built.

Exit 0: the codes are as README says. 1: not. 77: no git checkout, or no PyTorch.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "corpus"))
from harness import ROOT, Failure, Skip, arguments, setup_from, tail, test_main  # noqa: E402

BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *- (?:run: )?((?:git|pip|gpuleak)\b.*)$", re.MULTILINE)

TRAIN = """
import sys
import torch

steps, keep, kept = min(int(sys.argv[2]), {most}), {keep}, []
net = torch.nn.Linear(64, 64).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(steps):
    loss = net(torch.randn(16, 64, device="cuda")).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if keep:
        kept.append(loss)
"""

TRAININGS = (
    ("leaks", {"most": 200, "keep": True}, 101),
    ("keeps nothing", {"most": 200, "keep": False}, 0),
    ("ends early", {"most": 50, "keep": False}, 103),
)


def jobs() -> list:
    """The commands of each job in README, without those that only GitHub understands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [COMMAND.findall(block) for block in BLOCK.findall(text)]


def shell(command: str, folder: Path, python: Path) -> subprocess.CompletedProcess:
    path = f"{python.parent}:{os.environ['PATH']}"
    quick = {"CMAKE_BUILD_TYPE": "Debug"}  # half the time to build
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **quick, "GPULEAK_URL": f"file://{ROOT}", "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def expect(command: str, folder: Path, python: Path, code: int, when: str) -> None:
    done = shell(command, folder, python)
    if done.returncode != code:
        raise Failure(
            f"{command}\n  {when}: exit code {code} expected; got {done.returncode}\n"
            f"{tail(done.stdout, 30)}"
        )


def main() -> None:
    options = arguments(__doc__).parse_args()
    python = setup_from(options).python
    if not (ROOT / ".git").exists():
        raise Skip("needs a git checkout to clone from")
    gates = jobs()
    if len(gates) != 2 or any(len(commands) != 3 for commands in gates):
        raise Failure(f"README: two jobs of three commands expected; got {gates}")
    if gates[0][:2] != gates[1][:2]:
        raise Failure(f"README: the jobs prepare in different ways: {gates}")

    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        folder = Path(scratch).resolve()
        (folder / "requirements.txt").write_text("numpy\n")  # PyTorch is there already
        for command in gates[0][:2]:
            expect(command, folder, python, 0, "to prepare")
        for (what, values, code), gate in zip(TRAININGS, (gates[0][2], gates[1][2], gates[0][2])):
            (folder / "train.py").write_text(TRAIN.format(**values))
            expect(gate, folder, python, code, f"a training that {what}")
        if not (folder / "leaks.json").exists():
            raise Failure("the GitLab job leaves no leaks.json")
    print("both jobs: 101 of a leak, 0 without one, 103 of a short run")


if __name__ == "__main__":
    test_main(main)
