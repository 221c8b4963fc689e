"""What the program may notice of us: nothing.  errno, heap, signals, threads, arguments."""

import json

from target import Skip, expect, expect_equal, main


def test_calls_pass_through(box):
    """Every hook: arguments, result and errno, on success and on failure, early and late."""
    done = box.run(["passing", "calls"])
    expect_equal("standard error", done.stderr, "")
    plain = box.run(["passing", "calls"], traced=False)
    expect_equal("without the tracer", plain.stdout, done.stdout)
    expect(box.trace().state["notes_used"] > 0, "nothing was recorded, so nothing was tested")


def test_calls_pass_through_in_trouble(box):
    """The same where no trace can be made, where the tracer is full, and with other steps."""
    plain = box.run(["passing", "calls"], traced=False).stdout
    for env in ({"GPULEAK_CLOCK": None}, {"GPULEAK_SIZE": "1K"}, {"GPULEAK_OUT": "x" * 300}, {"GPULEAK_SIZE": "1M"}):
        done = box.run(["passing", "calls"], env=env)
        expect_equal(f"with {env}", done.stdout, plain)


def test_heap(box):
    """No heap in a hook after the first call: a program whose malloc() counts."""
    done = box.run(["heap"], code=None, env={"GPULEAK_SIZE": "32M"})
    lines = done.stdout.splitlines()[1:]  # the first is the watch that proves itself
    expect_equal("exit and output", (done.returncode, lines), (0, ["0 failures"]))
    trace = box.trace()
    expect(trace.committed == 300 and trace.state["sites_used"] > 3000, "it recorded too little")


def test_manners(box):
    """Signals, threads, environment, limits: before, after and without the tracer the same."""
    before, after = box.run(["manners"]).stdout.splitlines()
    expect_equal("after many events", after, before)
    expect(box.trace().committed == 100, "it was not traced")
    plain = box.run(["manners"], traced=False).stdout.splitlines()[0]
    strip = lambda line: [part for part in line.split(", ") if not part.startswith("environment")]
    expect_equal("without the tracer", strip(plain), strip(before))
    expect("1 threads" in before, f"it did not look at threads: {before}")


def test_cancelled(box):
    """A thread with a cancellation pending ends where it would without the tracer, and not in a hook."""
    done = box.run(["cancelled"])
    plain = box.run(["cancelled"], traced=False)
    expect_equal("without the tracer", plain.stdout, "worked 1, cancelled 1\n")
    expect_equal("with it", done.stdout, plain.stdout)
    trace = box.trace()
    expect_equal("marks", trace.committed, 20)
    expect_equal("allocated", trace.devices()[0]["allocated"], 200 * 512)


def check_threads(box, threads, devices, rounds):
    done = box.run(["threads", threads, devices, rounds])
    trace = box.trace()
    for line in done.stdout.splitlines():
        said = json.loads(line)
        number = said.pop("device")
        sites = [s for s in trace.sites() if s["source"] == 1 and s["device"] == number]
        expect(len(sites) >= 50, f"{len(sites)} sites on device {number}")
        got = {name: sum(site[name] for site in sites) for name in said}
        expect_equal(f"device {number}", got, said)
        device = trace.devices()[number]
        expect_equal("allocated", device["allocated"], said["live_bytes"])
        expect_equal("blocks", device["blocks"], said["live_blocks"])
        expect_equal("allocations", device["allocs"], said["allocs"])
    for name in ("unknown_frees", "replaced", "dropped_events", "dropped_blocks"):
        expect_equal(name, trace.state[name], 0)
    both = sum(site["allocs"] + site["frees"] for site in trace.sites())
    expect_equal("events", trace.state["events%d" % (trace.committed % 2)], both)
    check_births(trace)


def check_births(trace):
    """The evidence of each site adds up to its live blocks."""
    for site in trace.sites():
        evidence = trace.evidence(site)
        if not evidence:
            continue
        what = f"births of site {site['number']}"
        blocks = sum(count for _, count, _ in evidence["births"])
        expect_equal(what, blocks, site["live_blocks"])
        size = sum(size for _, _, size in evidence["births"])
        expect_equal(what + ", bytes", size, site["live_bytes"])


def test_threads(box):
    """Four threads free each other's memory on one device while one of them makes steps."""
    check_threads(box, 4, 1, 30_000)


def test_threads_and_devices(box):
    check_threads(box, 16, 8, 4_000)


def test_grows_bit_by_bit(box):
    """While tables grow no call touches more than a few new pages: PyTorch's mutex is held."""
    done = box.run(["hook_bench", "grow", "80000"], env={"GPULEAK_SIZE": "32M"})
    said = json.loads(done.stdout)
    for table in ("blocks", "frees", "sites"):
        expect(said[f"{table}_faults"] > 0, f"{table}: nothing was counted")
        most = said[f"{table}_most_faults"]
        expect(most <= 12, f"{table}: a call touched {most} pages")


def test_written_to_disk(box):
    """Once the trace was written to its disk its pages fault again: at marks, not in the hook."""
    said = json.loads(box.run(["hook_bench", "written"], env={"GPULEAK_SIZE": "64M"}).stdout)
    if said["control"] == 0:
        raise Skip("this file system's pages don't fault after they were written")
    expect(said["marks"] > 200, f"only {said['marks']} pages were made ready at marks")
    expect(said["calls"] <= 20, f"{said['calls']} faults in the hook")


if __name__ == "__main__":
    main(globals())
