"""A mark counts at one store: killed at any instruction, the old statistics or the new ones.

And a reader beside a writer never sees a mixture of two.
"""

import json
import subprocess

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


def step_through(box, events, marks):
    lines = "\n".join(" ".join(map(str, event)) for event in with_stops(events, marks))
    (box.folder / "events.txt").write_text(lines)
    copies = box.folder / "copies"
    done = box.run(
        ["commit", box.tracer, box.trace_path, copies, box.program("replay"), "events.txt"],
        traced=False,
        code=None,
        env={"GPULEAK_SIZE": "1M"},
    )
    if done.returncode == SKIP:
        raise Skip("ptrace isn't allowed here")
    expect_equal("exit code", (done.returncode, done.stderr), (0, ""))
    print(done.stdout.splitlines()[-1])
    expect(f"{len(marks)} marks," in done.stdout, f"not all were looked at: {done.stdout}")
    return sorted(path.name for path in box.folder.glob("copies.*"))


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
        timeout=20,
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
