#!/usr/bin/env python3
"""Replays families of histories through the tracer's hooks and judges gpuleak-report's reports.

    through_hooks.py --build BUILD [--seeds N] [--held-out] [--suite NAME] [--jobs N] [--json FILE]

Each history becomes a list of events; tests/programs/replay passes them through the preloaded
library, gpuleak-report reads the trace. So stacks, sites, marks, commit, file and reader are tested
with the rules. Exits 1 when a goal is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

GOALS = {  # leaks found at least, false alarms at most of all traces without a leak
    "families": (0.99, 0.0),
    "compositions": (0.99, 0.003),
    "renewal": (0.95, 0.003),
}
LEAF = "leaf_"
ENOUGH_STEPS = 20
TIMEOUT_S = 300


@dataclass
class Score:
    traces: int = 0
    leaky: int = 0
    found: int = 0
    innocent: int = 0
    false_alarms: int = 0
    wrong_site: int = 0
    unsaid: int = 0
    accepted: int = 0
    others: Counter = field(default_factory=Counter)  # (family, right, said) of the rest


class Programs:
    def __init__(self, build: Path, selection: list):
        self.families = build / "tests/families/families"
        self.replay = build / "tests/programs/replay"
        self.tracer = build / "libgpuleak.so"
        self.report = build / "gpuleak-report"
        self.selection = selection

    def count(self) -> int:
        command = [self.families, *self.selection, "--count"]
        return int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)

    def trace(self, number: int, folder: Path) -> tuple:
        """What is true of the history, and the report of its trace."""
        env = {
            "PATH": os.environ["PATH"],
            "LD_PRELOAD": str(self.tracer),
            "GPULEAK_OUT": str(folder / "trace.bin"),
            "GPULEAK_SIZE": "4M",
            "GPULEAK_RING": "64K",
            "GPULEAK_CLOCK": "given",
        }
        writer = subprocess.Popen(
            [self.families, *self.selection, "--events", str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        replay = subprocess.run(
            [self.replay], stdin=writer.stdout, capture_output=True, env=env, timeout=TIMEOUT_S
        )
        truth = json.loads(writer.stderr.read())
        if writer.wait() != 0 or replay.returncode != 0:
            raise RuntimeError(f"{truth['name']} seed {truth['seed']}: {replay.stderr.decode()}")
        done = subprocess.run(
            [self.report, "--json", "--all", folder / "trace.bin"],
            capture_output=True,
            timeout=TIMEOUT_S,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{truth['name']} seed {truth['seed']}: {done.stderr.decode()}")
        return truth, json.loads(done.stdout)


def site_number(site: dict) -> int:
    """The site of the history that a finding is about, by the function it is put down to."""
    name = (site["where"] or {}).get("symbol") or ""
    return int(name[len(LEAF) :], 16) if name.startswith(LEAF) else -1


def judge(score: Score, truth: dict, report: dict) -> list:
    """Counts the trace; what is wrong with its report."""
    device = report["devices"][0]
    leaks = [s for s in device["sites"] if s["verdict"] == "LEAK"]
    numbers = {site_number(site) for site in leaks}
    leaky, undecidable = truth["truth"] == "LEAK", truth["undecidable"]
    said = device["verdict"] == "LEAK"
    wrong = []

    score.traces += 1
    score.leaky += leaky
    score.innocent += not leaky
    if leaky and said and numbers & set(truth["leaks"]):
        score.found += 1
    elif leaky:
        wrong.append("missed")
    if said and not leaky and not undecidable:
        score.false_alarms += 1
        wrong.append("a false alarm")
    if not undecidable and numbers - set(truth["leaks"]):
        score.wrong_site += 1
        wrong.append(f"sites {sorted(numbers - set(truth['leaks']))} called LEAK")
    if undecidable and any(s["bound"] != "unknown" for s in leaks):
        score.unsaid += 1
        wrong.append("`bound unknown` not said")
    right = device["verdict"] in truth["accepted"] or (undecidable and not wrong)
    right |= truth["truth"] == "SHORT" and truth["steps"] >= ENOUGH_STEPS
    score.accepted += right
    if not right:
        score.others[truth["name"], "|".join(truth["accepted"]), device["verdict"]] += 1
    # Steps before a program's first GPU event are nobody's.
    if report["trace"]["steps"] not in (truth["steps"], truth["steps"] - 1):
        wrong.append(f"{report['trace']['steps']} steps of {truth['steps']}")
    if sum(report["trace"]["dropped"].values()):
        wrong.append(f"dropped {report['trace']['dropped']}")
    return [f"{truth['name']} seed {truth['seed']}: {device['verdict']}: {what}" for what in wrong]


def run_all(programs: Programs, jobs: int) -> dict:
    total, scores, done = programs.count(), {}, 0

    def one(number: int) -> tuple:
        with tempfile.TemporaryDirectory(prefix="gpuleak-") as folder:
            return programs.trace(number, Path(folder))

    with ThreadPoolExecutor(jobs) as pool:
        for truth, report in pool.map(one, range(1, total + 1)):
            suite = truth["name"].split("/")[0]
            for line in judge(scores.setdefault(suite, Score()), truth, report):
                print(line, flush=True)
            done += 1
            if done % 500 == 0:
                print(f"{done} of {total}", file=sys.stderr, flush=True)
    return scores


def show(suite: str, score: Score) -> bool:
    found, alarms = GOALS[suite]
    print(
        f"{suite}: {score.traces} traces; {score.found} of {score.leaky} leaks found,"
        f" {score.false_alarms} false alarms in {score.innocent} traces without one, wrong site in"
        f" {score.wrong_site}, bound unsaid in {score.unsaid}; right verdict {score.accepted}"
    )
    for (name, right, said), count in score.others.most_common():
        print(f"  {name}: {said} for {right}, {count} times")
    met = score.found >= found * score.leaky and score.false_alarms <= alarms * score.innocent
    return met and not score.unsaid and (alarms > 0 or not score.wrong_site)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--seeds", type=int, default=1, help="of each family (default: 1)")
    parser.add_argument("--held-out", action="store_true", help="seeds no rule was tuned on")
    parser.add_argument("--suite", choices=GOALS, help="this one alone")
    parser.add_argument("--jobs", type=int, default=2, help="traces at a time (default: 2)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    selection = ["--seeds", str(options.seeds)]
    selection += ["--held-out"] if options.held_out else []
    selection += ["--suite", options.suite] if options.suite else []

    scores = run_all(Programs(options.build.resolve(), selection), options.jobs)
    met = [show(suite, score) for suite, score in scores.items()]
    if options.json:
        figures = {
            suite: {k: v for k, v in vars(score).items() if k != "others"}
            for suite, score in scores.items()
        }
        options.json.write_text(json.dumps(figures, indent=1))
    sys.exit(0 if met and all(met) else 1)


if __name__ == "__main__":
    main()
