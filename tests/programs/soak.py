"""Very many events: the tracer's memory stays flat, every count is right, the report is quick.

soak.c counts a second time; each of its call stacks is compared with the trace's sites.
"""

import json
import os
import resource
import subprocess

from compare import SiteNumbers
from target import Failure, expect, expect_equal, main

MIB = 1 << 20
FIELDS = ("allocs", "frees", "live_blocks", "live_bytes")


def soak(box, steps, pairs, sites, live, seconds, every=5, size="256M", **options):
    done = subprocess.run(
        [str(box.program("soak")), *map(str, (steps, pairs, sites, live)), "counts", str(every)],
        cwd=box.folder,
        env=box.environment(GPULEAK_SIZE=size),
        **options,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=seconds,
    )
    expect_equal("exit code and standard error", (done.returncode, done.stderr), (0, ""))
    return json.loads(done.stdout)


def check_counts(box, trace):
    """Each stack's counts: its own and those of the trace's sites, which may be several."""
    numbers, got = SiteNumbers(box.program("soak")), {}
    for site in trace.sites():
        if site["source"] != 1:
            continue
        number = numbers.number(site["frames"]) - 0x10000000
        sums = got.setdefault(number, [0] * len(FIELDS))
        for i, field in enumerate(FIELDS):
            sums[i] += site[field]
    wrong, count = [], 0
    for line in (box.folder / "counts").read_text().splitlines():
        number, *wanted = map(int, line.split())
        count += 1
        if got.pop(number, None) != wanted:
            wrong.append(number)
    expect_equal("stacks counted wrong", wrong, [])
    expect_equal("stacks that nobody made", list(got), [])
    return count


def check_evidence(trace):
    """Births of each site add up to what lives of it."""
    for site in trace.sites():
        evidence = trace.evidence(site)
        if evidence:
            sums = [sum(column) for column in list(zip(*evidence["births"]))[1:]] or [0, 0]
            what = f"births of site {site['number']}"
            expect_equal(what, sums, [site["live_blocks"], site["live_bytes"]])


def check_totals(trace, said, steps, pairs):
    events = 2 * steps * pairs - said["live"]
    expect_equal("marks", trace.committed, steps)
    expect_equal("events", trace.state[f"events{steps % 2}"], events)
    expect_equal("allocated", trace.devices()[0]["allocated"], said["allocated"])
    expect_equal("live blocks", trace.devices()[0]["blocks"], said["live"])
    for name, value in trace.state.items():
        if name.startswith("dropped") or name in ("unknown_frees", "replaced"):
            expect_equal(name, value, 0)
    return events


def check_report(box, seconds):
    """Its time of the processor and its memory: both goals of an idle machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = box.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    expect(took <= seconds, f"the report took {took:.2f} s")
    return report, took


def report_memory(box):
    """The largest resident size of gpuleak-report, in bytes."""
    words = ["/usr/bin/env", "python3", "-c", (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    ), str(box.report), "--json", "--all", str(box.trace_path)]  # fmt: skip
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return 1024 * int(done.stdout)


def check(box, steps, pairs, sites, live, seconds):
    said = soak(box, steps, pairs, sites, live, seconds)
    trace = box.trace()
    events = check_totals(trace, said, steps, pairs)
    stacks = check_counts(box, trace)
    expect_equal("stacks", stacks, sites)
    check_evidence(trace)
    grown = said["end"] - said["tenth"]
    expect(grown <= MIB // 4, f"{grown} bytes more than at a tenth of the way")
    _, took = check_report(box, 1)
    memory = report_memory(box)
    expect(memory <= 500 * MIB, f"the report took {memory >> 20} MiB")
    print(f"{events} events, {stacks} stacks, {steps} steps: {(said['end'] - said['before']) / MIB:.1f} "
          f"MiB, of which {grown / MIB:.2f} after a tenth; report {took:.2f} s, {memory >> 20} MiB")


def test_counts(box):
    """A million and a half events of 5,000 stacks in 10,000 steps."""
    if os.environ.get("GPULEAK_TEST_LONG") == "true":
        check(box, 1_000_000, 50, 100_000, 10_000, 1000)
    else:
        check(box, 10_000, 75, 5_000, 1_000, 50)


def test_memory(box):
    """100,000 stacks and 1,000,000 live blocks: at most 64 MiB besides the file."""
    said = soak(box, 1_000, 1_001, 1_001_000, 1_000_000, 50, every=1)
    trace = box.trace()
    expect_equal("blocks", trace.devices()[0]["blocks"], 1_000_000)
    sites = trace.state["sites_used"]
    expect(sites >= 100_000, f"{sites} sites")
    memory = said["end"] - said["before"]
    expect(memory <= 64 * MIB, f"{memory / MIB:.1f} MiB")
    print(f"{memory / MIB:.1f} MiB for {sites} sites and 1000000 blocks")


def with_less_and_less_memory(box):
    """Address space for the trace and the program, but not for the last table of blocks."""
    for most in range(42, 24, -2):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (most * MIB, most * MIB))
        said = soak(box, 1_000, 200, 1_000, 200_000, 50, 1, "16M", preexec_fn=limit)
        trace = box.trace()
        if trace.state["dropped_blocks"]:
            return said, trace
        box.trace_path.unlink()
    raise Failure("there was memory for all blocks")


def test_no_memory_for_blocks(box):
    """No room for a larger table of blocks: what finds no place is counted, and said."""
    said, trace = with_less_and_less_memory(box)
    dropped, known = trace.state["dropped_blocks"], trace.devices()[0]["blocks"]
    expect(known + dropped >= said["live"], f"{known} known, {dropped} dropped of {said['live']}")
    expect_equal("allocated", trace.devices()[0]["allocated"], said["allocated"])
    report = box.read()
    expect_equal("dropped in the report", report["trace"]["dropped"]["blocks"], dropped)
    text = subprocess.run([str(box.report), str(box.trace_path)], stdout=subprocess.PIPE, text=True)
    expect("dropped" in text.stdout.lower(), f"the report does not say so: {text.stdout}")


if __name__ == "__main__":
    main(globals())
