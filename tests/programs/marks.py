"""A mark counts at one store: killed at any instruction, the old statistics or the new ones.

The same where the count begins anew.  And a reader beside a writer never sees a mixture of two.
"""

import json
import subprocess
import sys
from pathlib import Path

from books import RandomEvents
from compare import SiteNumbers, compare
from model import Model
from target import SKIP, Skip, expect, expect_equal, main
from trace import Trace


def with_stops(events, marks):
    """The list with a stop before and after the marks in question."""
    mark, listed = 0, []
    for event in events:
        mark += event[0] == "s"
        stop = event[0] == "s" and mark in marks
        listed += [("t",), event, ("t",)] if stop else [event]
    return listed


def lines_of(events):
    return "\n".join(" ".join(map(str, event)) for event in events)


def step_through(box, events, marks):
    (box.folder / "events.txt").write_text(lines_of(with_stops(events, marks)))
    return look_at(box, "marks", [box.program("replay"), "events.txt"], len(marks))


def look_at(box, what, command, count, **variables):
    """Steps through a program that stops itself so often; the copies' names, in order."""
    copies = box.folder / "copies"
    done = box.run(
        ["commit", what, box.tracer, box.trace_path, copies, *command],
        traced=False,
        code=None,
        env={"GPULEAK_SIZE": "1M", **variables},
    )
    if done.returncode == SKIP:
        raise Skip("ptrace isn't allowed here")
    expect_equal("exit code", (done.returncode, done.stderr), (0, ""))
    print(done.stdout.splitlines()[-1])
    expect(f"{count} looked at," in done.stdout, f"not all were looked at: {done.stdout}")
    names = [path.name for path in box.folder.glob("copies.*")]
    return sorted(names, key=lambda name: int(name[len("copies.") :]))


def check_copies(box, events, names):
    """What was kept on the way is compared with the model, and read by gpuleak-report."""
    models, numbers = {}, SiteNumbers(box.program("replay"))
    for name in names:
        trace = Trace(box.folder / name)
        mark = trace.committed
        if mark not in models:
            models[mark] = Model(events, marks=mark)
        model = models[mark]
        expect_equal(name, compare(trace, model, numbers, ended=False), [])
        if mark:
            devices = box.read(name)["devices"]
            got = {d["device"]: d["allocated"]["last"] for d in devices}
            wanted = {n: d.timeline[-1][1] for n, d in model.devices.items() if d.timeline}
            expect_equal(f"allocated at mark {mark}", got, wanted)
    return set(models)


def test_first_marks(box):
    """The first marks: sites, evidence and timeline begin."""
    events = list(RandomEvents(11, sites=12).steps(4))
    names = step_through(box, events, {1, 2, 3})
    committed = check_copies(box, events, names)
    expect(committed >= {0, 1, 2, 3}, f"copies of marks {committed}")


def test_folding_marks(box):
    """Marks that fold births and levels (32, 64) and thin the timeline (40, 80)."""
    events = list(RandomEvents(12, sites=8, addresses=60_000).steps(84))
    marks = {31, 32, 33, 39, 40, 41, 63, 64, 65, 79, 80, 81}
    names = step_through(box, events, marks)
    committed = check_copies(box, events, names)
    expect(marks <= committed, f"copies of marks {committed}")
    trace = box.trace()
    expect(trace.devices()[0]["timeline_shift"] >= 2, "the timeline was never thinned")


def said_of(box, name="trace.bin"):
    """What the report says that doesn't depend on when and how the program ended."""
    report = box.read(name)
    kept = {part: report["trace"][part] for part in ("steps", "clock", "dropped")}
    return {**kept, "devices": report["devices"], "verdict": report["verdict"]}


def check_begun_anew(box, names, before):
    """Copies taken on the way: what the old clock's marks said, no mark, the new clock's first.

    `before`: what is said of a trace without a mark that was recorded up to the same event.
    """
    said = [said_of(box, name) for name in names]
    steps = [one["steps"] for one in said]
    old = steps[0]
    expect(old > 1, f"{old} marks of the old clock")
    count = steps.count(old)
    none = steps.count(0)
    expect(count and none > 10, f"copies of marks {steps}")
    expect_equal("order", steps, [old] * count + [0] * none + steps[count + none :])
    for name, one in zip(names, said):
        wanted = {old: said[0], 0: before}.get(one["steps"], one)
        differ = [part for part in one if one[part] != wanted[part]]
        expect(not differ, f"{name} with {one['steps']} steps: another {', '.join(differ)}")


def test_baseline_ends(box):
    """The optimizer's first step begins: turns of a loop before it become the baseline."""
    program = Path(__file__).resolve().with_name("agent_program.py")
    command = [sys.executable, program, box.programs / "fake", "begun_anew"]
    names = look_at(box, "anew", command, 1, GPULEAK_CLOCK=None)
    last = said_of(box, names[-1])
    expect_equal("no mark", (last["verdict"], last["devices"][0]["sites"]), ("SHORT", []))
    check_begun_anew(box, names, last)
    expect_equal("marks of the optimizer", box.trace().committed, 25)


def loop_turns(count, events):
    """Turns of a loop, by a stack that comes again with something freed between."""
    for _ in range(count):
        yield ("a", 0, 0x70000000, 2048, 77)
        yield ("f", 0, 0x70000000)
        yield from events.some()


def test_begins_anew(box):
    """A better clock comes: the old clock's marks, none, the new clock's first; no mixture."""
    chance = RandomEvents(13, sites=8)
    first = list(loop_turns(16, chance))
    events = [*first, *chance.steps(3)]
    replay = [box.program("replay"), "events.txt"]
    (box.folder / "events.txt").write_text(lines_of([*first, ("k",)]))
    box.run(["replay", "events.txt"], code=-9)
    before = said_of(box)
    box.trace_path.unlink()
    (box.folder / "events.txt").write_text(lines_of(with_stops(events, {1})))
    names = look_at(box, "anew", replay, 1, GPULEAK_CLOCK=None)
    check_begun_anew(box, names, before)
    check_copies(box, events, [name for name in names if Trace(box.folder / name).committed < 2])
    wrong = compare(box.trace(), Model(events), SiteNumbers(box.program("replay")), ended=False)
    expect_equal("what differs in the end", wrong, [])


def test_reader_beside_writer(box):
    """gpuleak-report in a loop beside 10,000 marks: exit 0 to 3, and totals of one mark."""
    events = []
    for step in range(10_000):
        # All sites grow by the same each step, so any two that differ are of different marks.
        for site in range(8):
            address = 0x1000000 + 0x1000 * (8 * step + site)
            events.append(f"a {site % 2} {address} 512 {site}")
        events += ["b 0 0x5000 512 9 1000", "s"]  # so that it takes its time
    lines = "\n".join(events)
    (box.folder / "events.txt").write_text(lines)
    writer = box.start(["replay", "events.txt"], env={"GPULEAK_SIZE": "16M"})
    seen = set()
    while True:
        ended = writer.poll() is not None
        if box.trace_path.exists():
            seen.add(one_report(box))
        if ended:
            break
    writer.communicate()
    expect_equal("the writer exits", writer.returncode, 0)
    expect(len(seen) > 5 and max(seen) == 10_000, f"{len(seen)} marks were read, to {max(seen)}")


def one_report(box):
    """Reads the trace once; the mark that all of its numbers belong to."""
    done = subprocess.run(
        [str(box.report), "--json", "--all", str(box.trace_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=100,
    )
    expect(done.returncode in (0, 1, 2, 3), f"exit {done.returncode}: {done.stderr}")
    if done.returncode == 2:
        return 0  # nothing to judge yet
    report = json.loads(done.stdout)
    marks = {report["trace"]["steps"]}
    if marks == {0}:
        return 0  # no mark yet, so no numbers
    for device in report["devices"]:
        marks.add(device["allocated"]["last"] // (4 * 512))
        marks.add(device["series"]["step"][-1])
        marks.add(device["series"]["allocated"][-1] // (4 * 512))
        marks.add(sum(site["bytes"] for site in device["sites"]) // (4 * 512))
        marks.add(sum(site["blocks"] for site in device["sites"]) // 4)
    expect(len(marks) == 1, f"one report has the numbers of marks {sorted(marks)}")
    return marks.pop()


if __name__ == "__main__":
    main(globals())
