"""Who called backward(): what a thread of autograd allocates has that one's frames behind its own."""

from pathlib import Path

from agents import interpreters
from target import Skip, expect, expect_equal, main

PROGRAM = Path(__file__).resolve().with_name("backward_program.py")
HERE = PROGRAM.read_text().splitlines()


def each(box, case):
    engine = box.programs / "fake/libengine.so"
    if not engine.exists():
        raise Skip("no C++ compiler")
    for version, python in interpreters():
        for name in box.traces():
            (box.folder / name).unlink()
        command = [python, PROGRAM, engine.parent, case]
        done = box.run(command, env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"})
        expect_equal(f"Python {version}, {case}: output", (done.stdout, done.stderr), ("done\n", ""))
        yield f"Python {version}, {case}", box


def callers(trace):
    """Of each size the function that called backward(), or None."""
    found = {}
    for event in trace.events():
        if event["kind"] == "alloc" and event["size"] >= 1024:
            site = next(s for s in trace.sites() if s["number"] == event["site"])
            names = [f["function"] for f in trace.caller(site)]
            found[event["size"] // 1024] = names[1] if names else None
    return found


def test_lines(box):
    """Two lines: each site has its own.  However often, it is one site."""
    for what, box in each(box, "lines"):
        trace = box.trace()
        sites = {tuple(f["function"] for f in trace.caller(s)): s for s in trace.sites()}
        for function, each_time in (("one", [1, 3]), ("two", [2])):
            site = sites[("backward", function, "lines", "<module>")]
            expect_equal(f"{what}: {function}", site["allocs"], 3 * len(each_time))
            expect_equal(f"{what}: bytes", site["alloc_bytes"], 3 * 1024 * sum(each_time))
            own = site["frames"][: -len(trace.caller(site))]
            expect_equal(f"{what}: its own", {f["language"] for f in own}, {2})
            line = trace.caller(site)[1]["line"]
            expect("backward(lambda" in HERE[line - 1], f"{what}: line {line}")
            ours = [f["module"] for f in own if "gpuleak" in f["module"]]
            expect_equal(f"{what}: frames of the tracer's", ours, [])


def test_ways_out(box):
    for what, box in each(box, "ways_out"):
        got = callers(box.trace())
        expect_equal(what, got, {1: "one", 2: "two", 3: "one", 4: "two", 5: "one"})


def test_at_once(box):
    for what, box in each(box, "at_once"):
        got = callers(box.trace())
        expect_equal(what, got, {1: "at_once", 2: None, 3: "at_once", 4: "two"})


def test_alike(box):
    for what, box in each(box, "alike"):
        expect_equal(what, callers(box.trace()), {1: "work", 2: "work"})


def test_nested(box):
    for what, box in each(box, "nested"):
        got = callers(box.trace())
        expect_equal(what, got, {size: "outer" for size in range(1, 7)})


def test_recompiled(box):
    """A function has another one's address: the line is that of the one that lives."""
    for what, box in each(box, "recompiled"):
        trace = box.trace()
        got = {}
        for event in trace.events():
            site = next((s for s in trace.sites() if s["number"] == event["site"]), None)
            caller = trace.caller(site) if site and event["size"] >= 1024 else []
            if caller:
                got[event["size"] // 1024] = (caller[1]["file"], caller[1]["line"])
        expect_equal(what, got, {n: (f"cell{n}.py", 2) for n in range(1, 9)})


def test_paused(box):
    """What a pass that began while nothing was recorded allocates isn't put down to anybody."""
    for what, box in each(box, "paused"):
        expect_equal(what, callers(box.trace()), {1: None, 2: "two"})


def test_forked(box):
    for what, box in each(box, "forked"):
        traces = [box.trace(name) for name in box.traces()]
        got = sorted((callers(trace) for trace in traces), key=len)
        expect_equal(what, got, [{1: None}, {2: "two", 3: "one"}])


if __name__ == "__main__":
    main(globals())
