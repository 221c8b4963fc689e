#!/usr/bin/env python3
"""Runs every program of tests/corpus and prints what gpuleak says of it beside other rules.

R1: allocated rose at each step. R2: allocated ended 5 % above its first step. R3: the same of
reserved. Peer: a block allocated after step 1 that outlives the next mark is a leak, at its line.
What the others say comes from PyTorch's own numbers and memory history, without the tracer.

Exit 0: gpuleak is right about every program. 1: it is not.
"""

import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "corpus"
sys.path.insert(0, str(CORPUS))
from expectation import Expectation, read_expectation
from harness import Failure, Setup, arguments, setup_from, tail, test_main
from run import check_all, run_traced

RULES = ("gpuleak", "R1", "R2", "R3", "peer")


@dataclass
class Answer:
    """What one rule says of one program. `line`: False where it names a line and a wrong one."""

    alarm: bool
    line: Optional[bool] = None

    def error(self, leaks: bool) -> str:
        if self.alarm != leaks:
            return "missed" if leaks else "false alarm"
        return "wrong line" if self.alarm and self.line is False else ""


@dataclass
class Row:
    name: str
    deserved: str
    leaks: bool
    answers: dict
    wrong: list


def ours(setup: Setup, want: Expectation, folder: Path) -> tuple:
    _, report, code = run_traced(setup, want, folder)
    wrong = check_all(report, code, want)
    line = not any("top finding" in text or "false alarm" in text for text in wrong)
    return Answer(code == 1, line), wrong


def others(setup: Setup, want: Expectation, folder: Path) -> dict:
    path = folder / want.path.stem
    command = [CORPUS / "truth.py", "--json", path, want.path]
    if not setup.simulated:
        command.insert(1, "--gpu")
    done = setup.execute(
        setup.run_command(command, trace=False, **want.machine),
        folder / "none.bin",
        {"GPULEAK_TRUTH_INSIDE": "1"},
    )
    if done.returncode != 0:
        raise Failure(f"{want.path.name} exits {done.returncode}\n{tail(done.stderr)}")
    said = [json.loads(part.read_text()) for part in folder.glob(f"{path.name}.*.json")]
    rules = ("R1", "R2", "R3")
    answers = {rule: Answer(any(part["naive"][rule] for part in said)) for rule in rules}
    right = {str(m.line) for m in want.markers if "LEAK" in m.verdicts}
    blamed = [max(part["peer"], key=part["peer"].get) for part in said if part["peer"]]
    answers["peer"] = Answer(bool(blamed), bool(blamed) and set(blamed) <= right)
    return answers


def row_of(setup: Setup, path: Path) -> Row:
    want = read_expectation(path)
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        folder = Path(scratch)
        own, wrong = ours(setup, want, folder)
        answers = {"gpuleak": own, **others(setup, want, folder)}
    print(f"  {path.stem}", file=sys.stderr, flush=True)
    return Row(path.stem, " or ".join(want.verdicts), want.exit == 1, answers, wrong)


def totals(rows: list, rule: str) -> list:
    errors = [row.answers[rule].error(row.leaks) for row in rows]
    leaks = sum(row.leaks for row in rows)
    names_lines = rule in ("gpuleak", "peer")
    return [
        f"{leaks - errors.count('missed')} of {leaks}",
        f"{errors.count('false alarm')} of {len(rows) - leaks}",
        str(errors.count("wrong line")) if names_lines else "names none",
    ]


def table(head: list, rows: list) -> list:
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:]]


def text(rows: list) -> str:
    """The scoreboard as Markdown."""
    summary = [[rule, *totals(rows, rule)] for rule in RULES]
    each = [
        [r.name, r.deserved, *(r.answers[rule].error(r.leaks) or "right" for rule in RULES)]
        for r in rows
    ]
    return "\n".join(
        [
            "# Scoreboard",
            "",
            "Every program of `tests/corpus` on real PyTorch on the simulated GPU, and what each rule says",
            "of it. Written by `tests/scoreboard/scoreboard.py`, which tells what the rules are.",
            "",
            *table(["rule", "leaks found", "false alarms", "wrong line"], summary),
            "",
            "R1, R2 and R3 are what people go by who watch the numbers; they name no line. The peer's rule",
            "blames the line that holds most bytes of blocks that outlive a mark.",
            "",
            *table(["program", "verdict", *RULES], each),
            "",
        ]
    )


def corpus() -> list:
    return [p for p in sorted(CORPUS.glob("*.py")) if "\n# expect: " in p.read_text()]


def compare(path: Path) -> None:
    """The file has a row of each program, its verdict as wanted today, and no error of gpuleak's."""
    rows = [line.split(" | ") for line in path.read_text().splitlines() if line.startswith("| ")]
    listed = {row[0][2:]: row[1:] for row in rows if len(row) == 2 + len(RULES)}
    listed.pop("program", None)
    wanted = {p.stem: " or ".join(read_expectation(p).verdicts) for p in corpus()}
    names = set(wanted)
    wrong = [f"no row of {name}" for name in sorted(names - set(listed))]
    wrong += [f"no program {name}" for name in sorted(set(listed) - names)]
    wrong += [f"{name}: {row[1]}" for name, row in listed.items() if row[1] != "right"]
    wrong += [f"{n}: {row[0]}; wanted {wanted.get(n)}" for n, row in listed.items() if row[0] != wanted.get(n)]
    if wrong:
        raise Failure(f"{path.name}: run scoreboard.py --write anew\n  " + "\n  ".join(wrong))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compare", type=Path, help="only: is this file of the corpus of today?")
    parser.add_argument("--write", type=Path, help="write the scoreboard to this file")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time (default: 2)")
    parser.add_argument("programs", type=Path, nargs="*", help="default: all of tests/corpus")
    options = parser.parse_args()
    if options.compare:
        compare(options.compare)
        return
    setup = setup_from(options)
    paths = options.programs or corpus()
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda path: row_of(setup, path.resolve()), paths))
    board = text(rows)
    print(board)
    if options.write:
        options.write.write_text(board)
    wrong = [f"{row.name}:\n  " + "\n  ".join(row.wrong) for row in rows if row.wrong]
    if wrong:
        raise Failure("\n".join(wrong))


if __name__ == "__main__":
    test_main(main)
