#!/usr/bin/env python3
"""Runs corpus programs under the tracer and compares the reports with what the programs'
comments say.

Exit 0: as expected. 1: not. 77: PyTorch or the built programs are not there.
"""

import json
import tempfile
from pathlib import Path
from typing import Optional

from expectation import ALARMS, Expectation, Marker, read_expectation
from forked import Runs
from harness import Failure, Setup, Skip, arguments, each_program, setup_from, tail, test_main


def near(got, want: float, share: float = 0.02) -> bool:
    return got is not None and abs(got - want) <= share * abs(want)


class Findings:
    """The findings of one device, seen from one program."""

    def __init__(self, sites: list, program: Path):
        self.sites, self.program = sites, str(program)

    def on(self, frame: dict, line: int) -> bool:
        return bool(frame) and frame.get("file") == self.program and frame.get("line") == line

    def touches(self, site: dict, marker: Marker) -> bool:
        if marker.caller:
            return any(self.on(frame, marker.line) for frame in site["stack"])
        if "thread" in marker.words and not (site["where"] or {}).get("file"):
            return True
        return self.on(site["where"], marker.line)

    def of(self, marker: Marker) -> list:
        return [
            s for s in self.sites if s["verdict"] in marker.verdicts and self.touches(s, marker)
        ]

    def table(self) -> str:
        rows = [("verdict", "B/step", "bytes", "blocks", "first", "where", "evidence")]
        for site in self.sites[:25]:
            where = site["where"] or {}
            name = Path(where.get("file") or "?").name
            place = f"{name}:{where.get('line')} in {where.get('function')}"
            rate = site["bytes_per_step"]
            rows.append(
                (
                    site["verdict"],
                    "-" if rate is None else f"{rate:.1f}",
                    str(site["bytes"]),
                    str(site["blocks"]),
                    str(site["first_step"]),
                    place,
                    site["evidence"] or "",
                )
            )
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
        return "\n".join(
            "    " + "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths)), row[-1]])
            for row in rows
        )


def check_marker(findings: Findings, marker: Marker) -> list:
    found = findings.of(marker)
    if not found:
        others = sorted({s["verdict"] for s in findings.sites if findings.touches(s, marker)})
        return (
            [] if marker.optional else [f"{marker}; got {', '.join(others) or 'no finding there'}"]
        )

    wrong = []
    wish = marker.options
    if "rate" in wish:
        rates = [s["bytes_per_step"] for s in found]
        if None in rates or not near(sum(rates), float(wish["rate"])):
            wrong.append(f"{marker}; got {' + '.join(map(str, rates))} bytes per step")
    if "kind" in wish and not any(
        (s["kind"] or "").replace(" ", "-") == wish["kind"] for s in found
    ):
        wrong.append(f"{marker}; got kind {', '.join(str(s['kind']) for s in found)}")
    words = wish.get("occasion", "").replace("-", " ")
    if words and not any(words in (s["occasion"] or "") for s in found):
        wrong.append(f"{marker}; got {', '.join(str(s['occasion']) for s in found)}")
    if "size" in wish and not any(
        near(s["size_in_parameters"], float(wish["size"]), 0.05) for s in found
    ):
        wrong.append(f"{marker}; got size {', '.join(str(s['size_in_parameters']) for s in found)}")
    if "first" in wish and not any(s["first_step"] == int(wish["first"]) for s in found):
        wrong.append(f"{marker}; got first step {', '.join(str(s['first_step']) for s in found)}")
    if "period" in wish and not any(
        near(s["period_steps"], float(wish["period"]), 0.1) for s in found
    ):
        wrong.append(f"{marker}; got period {', '.join(str(s['period_steps']) for s in found)}")
    if "freed_by" in wish and not all(s["freed_by"] == wish["freed_by"] for s in found):
        wrong.append(f"{marker}; got freed by {', '.join(str(s['freed_by']) for s in found)}")
    if "operation" in wish and not any(wish["operation"] in s["operations"] for s in found):
        wrong.append(f"{marker}; got operations {', '.join(str(s['operations']) for s in found)}")
    if "via" in wish and not any(
        f"/{wish['via']}/" in ((s["via"] or {}).get("file") or "") for s in found
    ):
        wrong.append(f"{marker}; got via {', '.join(str(s['via']) for s in found)}")
    return wrong


def check_alarms(findings: Findings, want: Expectation) -> list:
    wrong = []
    for site in findings.sites:
        if site["verdict"] in want.forbid:
            wrong.append(f"a finding {site['verdict']}, which must not be: {site['where']}")
        elif site["verdict"] in ALARMS and not any(
            findings.touches(site, m) and site["verdict"] in m.verdicts for m in want.markers
        ):
            wrong.append(f"a false alarm, {site['verdict']}: {site['where']}")
    return wrong


def check_top(findings: Findings, want: Expectation) -> list:
    """The first finding is the one that the verdict is about, and on a line that is marked."""
    named = [m for m in want.markers if set(m.verdicts) & set(want.verdicts)]
    if not named:
        return []
    if not findings.sites:
        return ["a top finding; got none"]
    top = findings.sites[0]
    if not any(findings.touches(top, m) for m in named):
        lines = ", ".join(str(m.line) for m in named)
        return [f"the top finding on line {lines}; got {top['verdict']} at {top['where']}"]
    return []


def check_slope(device: dict, want: Expectation) -> list:
    """Allocated, which is PyTorch's own number, grows by the rate that the report says: in the second
    half of the run, or since the leaks began; of rounds that are no steps, one more or less."""
    leaks = [s for s in device["sites"] if s["verdict"] == "LEAK"]
    if want.uneven or not leaks or any(s["source"] != "torch" for s in leaks):
        return []
    steps, allocated = device["series"]["step"], device["series"]["allocated"]
    begun = max(s["first_step"] for s in leaks)
    start = max(len(steps) // 2, sum(step <= begun for step in steps))
    span = steps[-1] - steps[start]
    slope = (allocated[-1] - allocated[start]) / span
    rounds = sum(s["bytes_per_step"] * s["period_steps"] for s in leaks if s["period_steps"])
    if abs(device["bytes_per_step"] - slope) <= 0.01 * slope + rounds / span:
        return []
    return [f"{slope:.1f} bytes per step, as allocated grows; got {device['bytes_per_step']}"]


def check_report(report: dict, code: int, want: Expectation, number: int = 0) -> list:
    """What is wrong with the report of GPU `number`; nothing when it is as expected."""
    wrong = []

    def expect(what: str, wanted, got) -> None:
        if got != wanted:
            wrong.append(f"{what} {wanted}; got {got}")

    trace = report["trace"]
    device = next((d for d in report["devices"] if d["device"] == number), None)
    if device is None:
        return [f"a device {number}; got {len(report['devices'])} devices"]
    findings = Findings(device["sites"], want.path)

    if device["verdict"] not in want.verdicts:
        wrong.append(f"verdict {'|'.join(want.verdicts)}; got {device['verdict']}")
    if want.exit is not None:
        expect("exit code of gpuleak-report", want.exit, code)
    if want.steps is not None:
        expect("steps", want.steps, trace["steps"])
    expect("host", want.host, report["host"]["verdict"])
    expect("nothing dropped:", 0, sum(trace["dropped"].values()))
    expect("a complete trace:", True, trace["complete"])
    if want.rate is not None and not near(device["bytes_per_step"], want.rate):
        wrong.append(
            f"{want.rate:.0f} bytes per step on the device; got {device['bytes_per_step']}"
        )
    wrong += check_slope(device, want)
    if want.bound is not None and findings.sites:
        expect("bound", want.bound, findings.sites[0]["bound"])
    for marker in want.markers:
        wrong += check_marker(findings, marker)
    wrong += check_alarms(findings, want)
    wrong += check_top(findings, want)
    return [*wrong, "findings:\n" + findings.table()] if wrong else []


def check_rule(setup: Setup, trace: Path, want: Expectation) -> list:
    """With the rule of the program's header nothing is left to complain about."""
    rules = trace.with_suffix(".rules")
    rules.write_text(want.rule + "\n")
    report, code = setup.read(trace, "--suppressions", str(rules))
    wrong = [] if code == 0 else [f"exit code 0 with the rule; got {code}"]
    if not report["suppressions"][0]["used"]:
        wrong.append("a finding that meets the rule")
    for site in report["devices"][0]["sites"]:
        if site["verdict"] in ALARMS and not site["suppressed_by"]:
            wrong.append(f"no alarm with the rule; got {site['verdict']}: {site['where']}")
        bounded = site["bounded_by"]
        if bounded and site["bound"] != bounded["bound"]:
            wrong.append(f"the rule's bound {bounded['bound']}; got {site['bound']}")
    return wrong


def check_gate(setup: Setup, trace: Path, want: Expectation) -> list:
    """Who asks for it gets a gate on this verdict."""
    _, code = setup.read(trace, "--fail-on", want.gate)
    return [] if code == 1 else [f"exit code 1 with --fail-on {want.gate}; got {code}"]


def run_traced(setup: Setup, want: Expectation, folder: Path, runs: Optional[Runs] = None) -> tuple:
    """Exit code of `gpuleak run`, or of a forked run; gpuleak-report's JSON and its exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{want.path.stem}.bin"
    traces = [out]
    if want.ranks:
        traces = [folder / f"{want.path.stem}.rank{rank}.bin" for rank in range(want.ranks)]
        out = folder / f"{want.path.stem}.rank%r.bin"
    if runs:
        done = runs.execute([want.path], out, **want.machine)
    else:
        done = setup.execute(setup.run_command([want.path], **want.machine), out)
    if done.returncode not in (0, 101, 103):
        raise Failure(
            f"{want.path.name} exits {done.returncode}\n{tail(done.stdout + done.stderr)}"
        )
    return (done.returncode, *setup.read(*traces))


def check_all(report: dict, code: int, want: Expectation) -> list:
    """As check_report(), also for the reports of several ranks."""
    if not want.ranks:
        return check_report(report, code, want)
    wrong = []
    for trace in report["traces"]:
        rank = trace["trace"]["rank"]
        device = trace["devices"][0]["device"] if trace["devices"] else 0
        for text in check_report(trace, code, want.of_rank(rank), device):
            wrong.append(f"rank {rank}: {text}")
    ranks = [trace["trace"]["rank"] for trace in report["traces"]]
    if ranks != list(range(want.ranks)):
        wrong.append(f"reports of {want.ranks} ranks; got {ranks}")
    return wrong


def check_program(setup: Setup, want: Expectation, folder: Path, runs: Optional[Runs]) -> str:
    """The verdict, which is as expected."""
    ran, report, code = run_traced(setup, want, folder, runs)
    trace = folder / f"{want.path.stem}.bin"
    wrong = check_rule(setup, trace, want) if want.rule else []
    wrong += check_gate(setup, trace, want) if want.gate else []
    (folder / f"{want.path.stem}.json").write_text(json.dumps(report, indent=1))
    wrong += check_all(report, code, want)
    run_exit = want.exit + 100 if want.exit and not runs else 0
    if ran != run_exit:
        wrong.append(f"exit code {run_exit}; got {ran}")
    if wrong:
        raise Failure(f"{want.path.name}: expected\n  " + "\n  ".join(wrong))
    return report["verdict"]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--keep", type=Path, help="folder for the trace and its JSON (default: a temporary one)"
    )
    parser.add_argument("--torch", help="the PyTorch version in use, when it isn't 2.15.0")
    parser.add_argument("program", type=Path, nargs="+", help="several are forked from one Python")
    options = parser.parse_args()

    wants = [read_expectation(program.resolve()) for program in options.program]
    version = options.torch or "2.15.0"
    wants = [want for want in wants if not want.version or version.startswith(want.version)]
    if not wants:
        raise Skip("holds for another PyTorch only")
    if options.gpu and any(want.memory or want.devices for want in wants):
        raise Skip("needs the simulated GPU")
    setup = setup_from(options)
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch, Runs(setup) as runs:
        folder = (options.keep or Path(scratch)).resolve()
        forked = runs if len(options.program) > 1 else None

        def test(program: Path) -> None:
            verdict = check_program(setup, read_expectation(program), folder, forked)
            print(f"{program.name}: {verdict}, as expected", flush=True)

        each_program([want.path for want in wants], test)


if __name__ == "__main__":
    test_main(main)
