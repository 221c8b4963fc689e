"""What a corpus program's comments say of the report it must get.

Lines of their own, anywhere in the program:

    # expect: LEAK              verdict of device 0; several that are right: SAWTOOTH|NOISY
    # exit: 1                   exit code of gpuleak-report
    # gate: fragmentation       ... which is 1 with this --fail-on
    # steps: 200                marks in the trace
    # rate: 512                 bytes per step of the device, within 2 %
    # uneven: why               the report's rate need not be within 1 % of what allocated grows by in
    #                           the second half of the run
    # forbid: LEAK GROWING      no finding may have one of these verdicts
    # bound: unknown            of the top finding
    # memory: 2G                size of the simulated GPU
    # devices: 2                number of simulated GPUs
    # ranks: 2                  started by torchrun, each rank with a GPU and a trace of its own
    # optimizers: 2             so many step() calls make one step
    # host: HOST                verdict on the process's memory; else it must have none
    # rule: bounded=1GiB:...    a line of --suppressions with which all is well: exit code 0
    # version: 2.15             the PyTorch versions it holds for; others skip it

Behind a line that allocates, a finding that must be there, its `where` on this line:

    # <- LEAK rate=512          bytes per step of all findings of this line and verdict, within 2 %
    # <- JUMP kind=optimizer-state size=2.0 first=1
    # <- JUMP occasion=copy-of-the-model   which jump it is, in words of the report
    # <- SAWTOOTH freed_by=gc   who frees what piles up
    # <- LEAK caller            the line must be in the stack, not be `where`
    # <- LEAK swell             one block at a time, replaced by a larger one
    # <- LEAK thread            of an autograd thread: this line, or no line of Python
    # <- LEAK outside           taken from CUDA behind PyTorch's back
    # <- LEAK via=peft          allocated in this package, called from the line
    # <- LEAK operation=X       allocated by this operation of the backward pass, among others
    # <- LEAK rank=1            of this rank; the others leak nowhere
    # <- LEAK?                  a finding that may be there and need not

A finding LEAK or GROWING on any other line is a false alarm, and fails.
"""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Optional

HEADER = re.compile(
    r"^# (expect|exit|steps|rate|forbid|bound|memory|devices|optimizers|rule|version"
    r"|ranks|host|uneven|gate): +(.+?)\s*$"
)
MARKER = re.compile(r"# <- ([A-Z|]+)(\??)((?: [a-z_]+(?:=\S+)?)*)\s*$")
VERDICTS = (
    "LEAK GROWING FRAGMENTATION DRIVER HOST WORKLOAD JUMP SAWTOOTH PLATEAU NOISY STABLE SHORT"
).split()
ALARMS = ("LEAK", "GROWING")
WORDS = {"caller", "swell", "thread", "outside"}
OPTIONS = {"rate", "kind", "occasion", "size", "first", "period", "via", "rank", "operation", "freed_by"}


@dataclass
class Marker:
    line: int
    verdicts: tuple
    optional: bool
    words: tuple
    options: dict

    @property
    def caller(self) -> bool:
        return "caller" in self.words

    def __str__(self) -> str:
        wish = " ".join(f"{name} {value}" for name, value in self.options.items())
        place = " in the stack" if self.caller else ""
        return f"line {self.line}: {'|'.join(self.verdicts)}{place} {wish}".rstrip()


@dataclass
class Expectation:
    path: Path
    verdicts: tuple = ()
    exit: Optional[int] = 0
    steps: Optional[int] = None
    rate: Optional[float] = None
    uneven: Optional[str] = None
    forbid: tuple = ()
    bound: Optional[str] = None
    memory: Optional[str] = None
    devices: Optional[str] = None
    optimizers: int = 1
    rule: Optional[str] = None
    version: Optional[str] = None
    ranks: int = 0
    host: Optional[str] = None
    gate: Optional[str] = None
    markers: list = field(default_factory=list)

    @property
    def machine(self) -> dict:
        """What Setup.run_command() needs to know of it."""
        return {"memory": self.memory, "devices": self.devices, "ranks": self.ranks}

    def of_rank(self, rank: int) -> "Expectation":
        """What holds for one rank; a rank without a marker of its own leaks nowhere."""
        mine = [m for m in self.markers if int(m.options.get("rank", rank)) == rank]
        if mine:
            return replace(self, markers=mine)
        clean = tuple(name for name in VERDICTS if name not in ALARMS)
        return replace(self, verdicts=clean, markers=[], exit=None, rate=None, forbid=ALARMS)


def parse_marker(number: int, match) -> Marker:
    texts = match.group(3).split()
    words = tuple(text for text in texts if "=" not in text)
    options = dict(text.split("=", 1) for text in texts if "=" in text)
    unknown = (set(options) - OPTIONS) | (set(words) - WORDS)
    if unknown:
        raise ValueError(f"line {number}: unknown in a marker: {' '.join(sorted(unknown))}")
    return Marker(number, tuple(match.group(1).split("|")), bool(match.group(2)), words, options)


def read_headers(path: Path) -> dict:
    """The lines of their own alone, as text."""
    return dict(
        m.groups() for m in map(HEADER.match, path.read_text(encoding="utf-8").splitlines()) if m
    )


def read_expectation(path: Path) -> Expectation:
    headers, lines = read_headers(path), path.read_text(encoding="utf-8").splitlines()
    if "expect" not in headers:
        raise ValueError(f"{path}: no '# expect:' line")
    found = Expectation(path, tuple(headers.pop("expect").split("|")), int(headers.pop("exit", 0)))
    for name, convert in (
        ("steps", int),
        ("optimizers", int),
        ("ranks", int),
        ("rate", float),
        ("forbid", lambda text: tuple(text.split())),
    ):
        if name in headers:
            setattr(found, name, convert(headers.pop(name)))
    for name, value in headers.items():
        setattr(found, name, value)

    for number, text in enumerate(lines, 1):
        marker = MARKER.search(text)
        if marker:
            found.markers.append(parse_marker(number, marker))
        elif "# <-" in text:
            raise ValueError(f"{path}:{number}: not a marker: {text.strip()}")
    return found
