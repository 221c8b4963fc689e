"""When something is full the tracer drops, counts what it dropped, and the totals stay right."""

from books import check_books, end_with_events, replay, simple_steps
from compare import compare_devices
from model import Model
from target import expect, expect_equal, main

SMALL = {"GPULEAK_SIZE": "1M"}


def totals_of(trace, source):
    """Live bytes and blocks, allocations and frees of all sites of one source."""
    sites = [site for site in trace.sites() if site["source"] == source]
    names = ("live_bytes", "live_blocks", "allocs", "frees")
    return {name: sum(site[name] for site in sites) for name in names}


def many_sites(count, keep):
    """Every site allocates; each `keep`-th block stays."""
    for number in range(count):
        address = 0x1000000 + 0x200 * number
        yield ("a", 0, address, 512, number)
        if number % keep:
            yield ("f", 0, address)
        if number % 100 == 99:
            yield ("s",)


def test_sites_overflow(box):
    """What finds no room is counted under one site, and freed there."""
    events = [*many_sites(8000, 4), ("s",)]
    replay(box, events, env=SMALL)
    trace, model = box.trace(), Model(events)
    expect_equal("devices", compare_devices(trace, model), [])
    expect(trace.state["dropped_sites"] > 1000, f"{trace.state['dropped_sites']} dropped sites")
    expect_equal("dropped events", trace.state["dropped_events"], 0)
    expect_equal("all sites", totals_of(trace, 1), {
        "live_bytes": 2000 * 512, "live_blocks": 2000, "allocs": 8000, "frees": 6000
    })  # fmt: skip
    overflow = [site for site in trace.sites() if site["flags"] & 1]
    expect_equal("overflow sites", len(overflow), 1)
    report = box.read()
    expect_equal(
        "allocated in the report", report["devices"][0]["allocated"]["last"], 2000 * 512
    )


def test_segments_overflow(box):
    """A segment whose stack found no room is still a segment when it is given back."""
    fill = many_sites(8000, 4)
    segment = [("g", 0, 0x8000000, 2 << 20, 9000), ("s",), ("G", 0, 0x8000000, 2 << 20), ("s",)]
    outside = [("c", 0, 0x9000000, 4096, 9001), ("s",), ("x", 0x9000000), ("s",)]
    events = [*fill, *segment, *outside]
    replay(box, events, env=SMALL)
    expect_equal("devices", compare_devices(box.trace(), Model(events)), [])


def test_evidence_overflow(box):
    """Sites that hold memory and found no room for evidence are counted."""
    events = [*many_sites(600, 1), ("s",)]
    replay(box, events, env=SMALL)
    trace = box.trace()
    without = [s for s in trace.sites() if not s["evidence"] and s["live_bytes"]]
    expect(without, "there was room for all")
    expect_equal("dropped", trace.state["dropped_evidence"], len(without))
    expect_equal("all sites", totals_of(trace, 1)["live_bytes"], 600 * 512)


def test_notes_overflow(box):
    events = [("a", 0, 0x1000, 512, 1), *[("p", f"phase {i}") for i in range(1000)], ("s",)]
    replay(box, events, env=SMALL)
    trace = box.trace()
    dropped = trace.state["dropped_notes"]
    expect(dropped > 0, "there was room for all")
    expect_equal("notes and dropped ones", len(trace.notes()) + dropped, 1000)


def test_ring_wraps(box):
    """A ring of few pages has the newest events; the statistics don't depend on it."""
    events = list(simple_steps(5000))
    trace, _ = check_books(box, events, env={"GPULEAK_SIZE": "2M", "GPULEAK_RING": "64K"})
    kept = len(list(trace.events()))
    expect(1000 < kept < 5000, f"{kept} events in the ring")


def test_ring_of_any_size(box):
    """The same run with a small ring and a large one: all but the ring is the same."""
    seen = []
    for size, ring in (("32M", "64K"), ("48M", "16M")):
        replay(box, simple_steps(900), env={"GPULEAK_SIZE": size, "GPULEAK_RING": ring})
        trace = box.trace()
        sites = [
            ({k: v for k, v in site.items() if k != "frames"}, trace.evidence(site))
            for site in trace.sites()
        ]
        devices = trace.devices()
        for row in devices[0]["timeline"]:
            row.pop("when")
        devices[0].pop("open_when")
        seen.append((sites, devices))
    expect_equal("the small ring's", seen[0], seen[1])


def test_kill_loses_what_waits(box):
    """Up to 31 events a device are not in a mapped ring yet; a slot has those of its writing."""
    if box.writer == "slots":
        return
    found = end_with_events(box, ("k",), code=-9)
    expect(70 - 31 <= found <= 70, f"{found} of 70 events after the last mark")


def test_timeline_is_thinned(box):
    """More steps than the timeline has entries: neighbours become one, nothing is cut."""
    events = list(simple_steps(4000))
    trace, _ = check_books(box, events, env=SMALL)
    expect(trace.devices()[0]["timeline_shift"] > 2, "it was not thinned")


def test_devices_out_of_range(box):
    """More devices than a trace has room for: dropped and counted, not written elsewhere."""
    done = box.run(["passing", "devices"])
    trace = box.trace()
    expect_equal("dropped events", trace.state["dropped_events"], int(done.stdout))
    expect_equal("devices", sorted(trace.devices()), [15])


if __name__ == "__main__":
    main(globals())
