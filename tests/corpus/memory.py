#!/usr/bin/env python3
"""What memory was made of, at the peak and when it was not enough, to the byte.

    memory.py [--build FOLDER] [--python PYTHON] PROGRAM

The program's comments say what must be told: "# memory:" of the simulated GPU, "# exit:" of the
program, "# cause:" of its OutOfMemoryError, "# says:" words of that in the text, "# caught:" so many that
didn't end it. A line with
"# <- here" could not be served; "# <- most" is the line that holds most. "# verdict:" of the device,
"# reason:" of its fragmentation, "# helps:" the settings that the report names, each of which must
help. The program prints its peak and its reserve as PyTorch counts them.

Exit 0: as expected. 1: not. 77: PyTorch or the built programs are not there.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from harness import Failure, arguments, setup_from, tail, test_main


def headers(text: str) -> dict:
    """Each as text; "helps" is a list."""
    found = re.findall(r"^# (memory|exit|cause|caught|says|verdict|reason|helps): (.+)$", text, re.M)
    return {**dict(found), "helps": [value for name, value in found if name == "helps"]}


def line_with(text: str, mark: str):
    for number, line in enumerate(text.splitlines(), 1):
        if mark in line.partition("# <- ")[2].split(", "):
            return number
    return None


def rows_sum(of: dict) -> int:
    return sum(row["bytes"] for row in of["made_of"])


def check_made_of(what: str, of: dict, total: int, most) -> list:
    wrong = []
    if of["unattributed"] or rows_sum(of) != total:
        wrong.append(f"{what} {total} bytes in rows; got {rows_sum(of)}, {of['unattributed']} unattributed")
    top = of["made_of"][0]["where"] if of["made_of"] else None
    if most and (not top or top["line"] != most):
        wrong.append(f"{what} made of line {most} most; got {top}")
    return wrong


def check_oom(oom: dict, want: dict, text: str) -> list:
    wrong = []
    if oom is None:
        return ["an OutOfMemoryError; got none"]
    ended = "caught" not in want
    for name, wanted in (("cause", want["cause"]), ("ended", ended), ("count", int(want.get("caught", 1)))):
        if oom[name] != wanted:
            wrong.append(f"{name} {wanted}; got {oom[name]}")
    if (oom["where"] or {}).get("line") != line_with(text, "here"):
        wrong.append(f"not served on line {line_with(text, 'here')}; got {oom['where']}")
    if ended:
        wrong += check_made_of("when it ended,", oom, oom["allocated"], line_with(text, "most"))
    return wrong


MESSAGE = re.compile(
    r"Tried to allocate (\S+ \w+)\..* (\S+ \w+) is allocated by PyTorch.*"
    r" (\S+ \w+) is reserved by PyTorch but unallocated"
)


def in_its_words(size: int) -> str:
    """A size as PyTorch's message has it."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size > unit:
            return f"{size / unit:.2f} {name}"
        if size == unit:
            return "1024.00 MiB" if name == "GiB" else "1024.00 KiB" if name == "MiB" else "1024 bytes"
    return f"{size} bytes"


def check_message(oom: dict, stderr: str) -> list:
    """What PyTorch's own message says of an error that ended the program."""
    said = MESSAGE.search(stderr)
    if not said:
        return [f"PyTorch's message; got\n{tail(stderr)}"]
    # It tries for a whole segment: 2 MiB, 20 MiB, or the request in units of 2 MiB.
    size = oom["bytes"]
    tried = {in_its_words(s) for s in (2 << 20, 20 << 20, -(-size >> 21) << 21) if s >= size}
    got = in_its_words(oom["allocated"]), in_its_words(oom["cached"])
    wrong = [f"{said[1]} asked for; got {size}"] if said[1] not in tried else []
    if got != said.groups()[1:]:
        wrong.append(f"{said[2]} allocated, {said[3]} cached; got {got}")
    if oom["reserved"] != oom["allocated"] + oom["cached"]:
        wrong.append(f"reserved the sum of {oom['allocated']} and {oom['cached']}; got {oom['reserved']}")
    return wrong


def check_text(report: str, want: dict) -> list:
    """Only an error that ended the run leads."""
    leads = report.startswith("OUT OF MEMORY")
    if want.get("says", "") not in report.split("\n")[0]:
        return [f"the first line to say {want['says']}; got {report.split(chr(10))[0]}"]
    if "cause" not in want:
        return ["no word of memory that was not enough"] if "out of memory" in report.lower() else []
    if leads == ("caught" in want):
        return [f"the first line of a run that {'went on' if leads else 'ended so'}"]
    return []


def printed(name: str, output: str) -> int:
    return int(re.search(rf"^{name} (\d+)$", output, re.M)[1])


def check_fragmentation(found: dict, want: dict) -> list:
    if not found:
        return ["why memory is fragmented; got nothing"]
    wrong = []
    named = [s for s in re.split(", or ", found["setting"] or "") if s]
    if found["reason"] != want["reason"]:
        wrong.append(f"reason {want['reason']}; got {found['reason']}")
    if named != want["helps"]:
        wrong.append(f"settings {want['helps']}; got {named}")
    return wrong


def check_helps(setup, program: Path, want: dict, out: Path, before: str) -> list:
    """With a setting that the report names the program ends well, or reserves a third less."""
    wrong = []
    for setting in want["helps"]:
        command = setup.run_command([program], trace=False, memory=want["memory"])
        done = setup.execute(command, out, {"PYTORCH_CUDA_ALLOC_CONF": setting})
        less = printed("reserved", done.stdout) < 2 / 3 * printed("reserved", before)
        if done.returncode or ("cause" not in want and not less):
            wrong.append(f"{setting} to help; got exit code {done.returncode}\n{tail(done.stdout)}")
    return wrong


def main() -> None:
    options = arguments(__doc__)
    options.add_argument("program", type=Path)
    options = options.parse_args()
    setup = setup_from(options)
    text = options.program.read_text()
    want = headers(text)
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
        trace = Path(folder) / "trace.bin"
        program = options.program.resolve()
        done = setup.execute(setup.run_command([program], memory=want["memory"]), trace)
        if done.returncode not in (int(want["exit"]), 101):
            raise Failure(f"exit code {want['exit']}; got {done.returncode}\n{tail(done.stdout + done.stderr)}")
        report, _ = setup.read(trace, "--peak")
        wrong = check_helps(setup, program, want, Path(folder) / "none.bin", done.stdout)
        plain = subprocess.run([setup.report, "--peak", trace], stdout=subprocess.PIPE, text=True)

    device = report["devices"][0]
    peak = printed("peak", done.stdout)
    wrong += check_text(plain.stdout, want)
    if device["verdict"] != want.get("verdict", device["verdict"]):
        wrong.append(f"verdict {want['verdict']}; got {device['verdict']}")
    if "reason" in want:
        of = device["oom"] if "cause" in want else device
        wrong += check_fragmentation(of["fragmentation"], want)
    if device["peak"]["bytes"] != peak:
        wrong.append(f"a peak of {peak} bytes, as PyTorch says; got {device['peak']['bytes']}")
    wrong += check_made_of("the peak", device["peak"], peak, None if "cause" in want else line_with(text, "most"))
    if "cause" in want:
        wrong += check_oom(device["oom"], want, text)
        if device["oom"] and device["oom"]["ended"]:
            wrong += check_message(device["oom"], done.stderr)
    elif device["oom"]:
        wrong.append(f"no OutOfMemoryError; got {device['oom']}")
    if wrong:
        raise Failure(f"{program.name}: expected\n  " + "\n  ".join(wrong) + f"\n{tail(plain.stdout, 40)}")
    print(f"{program.name}: as expected")


if __name__ == "__main__":
    test_main(main)
