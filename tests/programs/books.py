"""What the trace says of a run is what the run did: totals, sites, evidence, timeline, ring."""

import random

from compare import SiteNumbers, compare, compare_sites, key_of
from model import Model
from target import Failure, expect, expect_equal, main


def replay(box, events, code=0, env={}, **options):
    """Replays a list and returns what `replay` printed and the trace."""
    lines = "\n".join(" ".join(map(str, event)) for event in events) + "\n"
    (box.folder / "events.txt").write_text(lines)
    return box.run(["replay", "events.txt"], code=code, env=env, **options)


def check_books(box, events, env={}):
    """The whole list, compared in everything."""
    events = list(events)
    done = replay(box, events, env=env)
    expect_equal("standard error", done.stderr, "")
    trace = box.trace()
    model = Model(events)
    wrong = compare(trace, model, SiteNumbers(box.program("replay")))
    if wrong:
        raise Failure("\n  ".join(["", *wrong[:10], f"{len(wrong)} differences"]))
    return trace, model


def simple_steps(count, site=1):
    """A loop that keeps one block a step and has one temporary."""
    for step in range(count):
        yield ("a", 0, 0x1000000 + 0x1000 * step, 512, site)
        yield ("a", 0, 0x9000000, 2048, site + 1)
        yield ("f", 0, 0x9000000)
        yield ("s",)


def test_basic(box):
    trace, model = check_books(box, simple_steps(25))
    expect_equal("marks", trace.committed, 25)
    expect_equal("bytes at the end", trace.devices()[0]["allocated"], 25 * 512)
    expect_equal("status", trace.state["status"], 2)
    report = box.read()
    expect_equal("allocated in the report", report["devices"][0]["allocated"]["last"], 25 * 512)


class RandomEvents:
    """Lists that an allocator could make: no address is given out while it is live."""

    def __init__(self, seed, devices=2, sites=40, pauses=False, addresses=4000):
        self.chance = random.Random(seed)
        self.devices, self.sites, self.pauses = devices, sites, pauses
        self.free = [0x10000 * i for i in range(1, addresses)]
        self.chance.shuffle(self.free)
        self.blocks, self.segments = [], []

    def _device(self):
        return self.chance.randrange(self.devices)

    def alloc(self):
        block = (self._device(), self.free.pop())
        self.blocks.append(block)
        yield ("a", *block, 512 * self.chance.randrange(1, 100), self.chance.randrange(self.sites))

    def release(self):
        if self.blocks:
            block = self.blocks.pop(self.chance.randrange(len(self.blocks)))
            self.free.insert(0, block[1])
            yield ("f", *block)

    def cuda_malloc(self):
        address = self.free.pop()
        self.segments.append((address, None))
        yield ("c", self._device(), address, 4096 * self.chance.randrange(1, 9), 900)

    def segment(self):
        address, device = self.free.pop(), self._device()
        size = self.chance.randrange(1, 5) << 21
        self.segments.append((address, (device, size)))
        yield ("g", device, address, size, self.chance.randrange(self.sites))

    def cuda_free(self):
        if self.segments:
            place = self.chance.randrange(len(self.segments))
            address, segment = self.segments.pop(place)
            self.free.insert(0, address)
            yield ("G", segment[0], address, segment[1]) if segment else ("x", address)

    def paused(self):
        """What is allocated meanwhile is unknown later; what was there before is freed as ever."""
        yield ("z",)
        for _ in range(3):
            yield from self.alloc()
            yield from self.release()
        yield from self.cuda_malloc()
        yield from self.cuda_free()
        yield ("y",)

    def some(self):
        for _ in range(self.chance.randrange(40)):
            draw = self.chance.random()
            if draw < 0.45:
                yield from self.alloc()
            elif draw < 0.80:
                yield from self.release()
            elif draw < 0.85:
                yield from self.cuda_malloc()
            elif draw < 0.90:
                yield from self.segment()
            elif draw < 0.97:
                yield from self.cuda_free()
            elif self.pauses:
                yield from self.paused()

    def steps(self, count):
        for _ in range(count):
            yield from self.some()
            yield ("s",)


def try_seeds(box, seeds, steps, **options):
    for seed in seeds:
        for path in box.folder.iterdir():
            path.unlink()
        try:
            check_books(box, RandomEvents(seed, **options).steps(steps))
        except Failure as reason:
            raise Failure(f"seed {seed}: {reason}")


def test_random_short(box):
    try_seeds(box, range(12), 60)


def test_random_long(box):
    """Births and levels are folded, the timeline is not yet."""
    try_seeds(box, range(2), 700, sites=12)


def test_random_paused(box):
    try_seeds(box, range(20, 26), 60, pauses=True, addresses=400)


def test_two_devices(box):
    """Each has its own books: the same addresses, sites and sizes on both."""
    events = []
    for step in range(30):
        for device in (0, 3):
            events += [
                ("a", device, 0x4000 + 0x1000 * step, 512 * (device + 1), 7),
                ("a", device, 0x900000, 1024, 8),
                ("f", device, 0x900000),
            ]
        events.append(("s",))
    trace, _ = check_books(box, events)
    expect_equal("devices", sorted(trace.devices()), [0, 3])
    expect_equal("bytes on device 3", trace.devices()[3]["allocated"], 30 * 2048)


def test_segments(box):
    """empty_cache() gives segments back without a report: cudaFree lowers reserved."""
    events = [
        ("g", 0, 0x200000, 2 << 20, 1), ("a", 0, 0x200000, 512, 2), ("s",),
        ("g", 0, 0x800000, 20 << 20, 1), ("a", 0, 0x800000, 512, 2), ("s",),
        ("f", 0, 0x800000), ("s",),
        ("G", 0, 0x800000, 20 << 20), ("s",),
        ("c", 0, 0x9000000, 4 << 20, 3), ("s",), ("x", 0x9000000), ("s",),
    ]  # fmt: skip
    trace, _ = check_books(box, events)
    reserved = [row["reserved"] >> 20 for row in trace.devices()[0]["timeline"]]
    expect_equal("reserved, MiB", reserved, [2, 22, 22, 2, 2, 2])
    device = trace.devices()[0]
    outside = device["outside"], device["outside_peak"]
    expect_equal("outside and its peak", outside, (0, 4 << 20))


def test_segments_without_blocks(box):
    """PyTorch takes memory and reports nothing in it: that there is no leak proves nothing."""
    events = []
    for step in range(30):
        events += [("g", 0, 0x1000000 + 0x400000 * step, 2 << 20, 1), ("s",)]
    check_books(box, events)
    report = box.read()
    expect_equal("proves too little", report["proves_too_little"], True)
    check_books(box, [*events, ("a", 0, 0x1000000, 512, 2), ("s",)])
    expect_equal("with a block", box.read()["proves_too_little"], False)


def sites_by_number(box, events):
    """A list of the trace's sites for each call stack."""
    replay(box, events)
    trace = box.trace()
    numbers, found = SiteNumbers(box.program("replay")), {}
    for site in trace.sites():
        found.setdefault(key_of(site, numbers)[-1], []).append(site)
    return trace, found


def test_inputs(box):
    """Blocks that a copy from the host fills in the step of their birth are counted, those of step 0
    only where later steps have some as well."""
    events = []
    for step in range(30):
        block = 0x1000000 + 0x1000 * step
        for number, kind, device in ((1, 1, 0), (2, 3, 0), (3, 1, 3)):
            address = block + 0x100000 * number
            events += [("a", device, address, 512, number), ("m", 0, address, kind)]
        if step == 0:
            events += [("a", 0, 0x900000, 512, 5), ("m", 0, 0x900000, 1)]
        events += [("a", 0, block + 0x500000, 512, 4), ("s",), ("m", 0, block + 0x500000, 1)]
        events += [("m", 0, 0x7777000, 1)]
    trace, sites = sites_by_number(box, events)
    got = {number: [site["filled"] for site in sites[number]] for number in sites}
    # The clock is explicit: all before its first mark is of step 0.
    expect_equal("blocks filled by site", got, {1: [30], 2: [0], 3: [30], 4: [0], 5: [0]})


def test_workspaces(box):
    """What cuBLAS was given becomes a site of its own with the same stack, once it has lived to a mark."""
    kept = 8 << 20
    events = [("a", 0, 0x1000, 512, 1), ("a", 0, 0x4000000, 64 << 20, 2), ("f", 0, 0x4000000), ("s",)]
    for step in range(10):
        events += [("a", 0, 0x9000000, kept, 1), ("w", 0, 0x9000000)] if step == 3 else []
        events += [("a", 0, 0x2000000, 1024, 1), ("w", 0, 0x2000000), ("f", 0, 0x2000000)]
        events += [("w", 0, 0x9000000), ("w", 0, 0x7777000), ("s",)]
    trace, sites = sites_by_number(box, events)
    rows = [
        tuple(s[n] for n in ("flags", "allocs", "frees", "live_bytes", "live_blocks", "first_step"))
        for s in sites[1]
    ]
    expect_equal("sites", sorted(rows), [(0, 11, 10, 512, 1, 0), (16, 1, 0, kept, 1, 5)])
    expect_equal("stacks", len({str(site["frames"]) for site in sites[1]}), 1)
    births = [trace.evidence(site)["births"] for site in sites[1]]
    expect_equal("births", sorted(births), [[(0, 1, 512)], [(5, 1, kept)]])
    at_peak = sorted(bytes_at_peak(trace, site) for site in sites[1])
    expect_equal("bytes at the peak, which was before", at_peak, [0, 512])
    live = {site["number"]: 0 for site in sites[1]}
    for event in trace.events():
        if event["kind"] in ("alloc", "free") and event["site"] in live:
            live[event["site"]] += event["size"]
    expect_equal("by the ring", live, {s["number"]: s["live_bytes"] for s in sites[1]})


def test_workspaces_at_one_address(box):
    """A workspace that comes back to the address of an earlier one is told; another block there is none."""
    kept = 8 << 20
    events = [("a", 0, 0x4000000, 64 << 20, 2), ("f", 0, 0x4000000), ("s",)]
    events += [("a", 0, 0x9000000, kept, 1), ("w", 0, 0x9000000), ("s",)]
    for step in range(2):  # the new one beside a use of the old one, and alone
        events += [("w", 0, 0x9000000), ("s",)] if step else [("w", 0, 0x9000000)]
        events += [("f", 0, 0x9000000), ("s",)] if step else [("f", 0, 0x9000000)]
        events += [("a", 0, 0x9000000, kept, 3 + step), ("w", 0, 0x9000000), ("s",)]
    events += [("a", 0, 0x5000000, 1024, 5), ("w", 0, 0x5000000), ("f", 0, 0x5000000)]
    events += [("a", 0, 0x5000000, 4096, 5), ("s",)]
    _, sites = sites_by_number(box, events)
    got = {
        number: {site["flags"]: (site["allocs"], site["frees"]) for site in sites[number]}
        for number in (1, 3, 4, 5)
    }
    told = {0: (0, 0), 16: (1, 1)}
    wanted = {1: told, 3: told, 4: {0: (0, 0), 16: (1, 0)}, 5: {0: (2, 1)}}
    expect_equal("allocations and frees by line and flags", got, wanted)


def bytes_at_peak(trace, site):
    noted = site["peak_epoch"] == trace.devices()[site["device"]]["peak_epoch"]
    return site["peak_bytes"] if noted else site["live_bytes"]


def test_workspaces_at_the_peak(box):
    """One that is freed within its step is told from its line's other blocks at the peak alone."""
    events = [("a", 0, 0x1000, 512, 1), ("s",)]
    for step in range(10):
        events += [("a", 0, 0x2000, 1024, 1), ("w", 0, 0x2000), ("f", 0, 0x2000)]
        events += [("a", 0, 0x3000, 4096, 2), ("f", 0, 0x3000)] if step > 5 else []
        events += [("a", 0, 0x100000 * (step + 1), 64, 3), ("w", 0, 0x2000), ("s",)]
    trace, sites = sites_by_number(box, events)
    rows = {site["flags"]: (site["allocs"], site["frees"]) for site in sites[1]}
    # Those of steps 1 to 7, before the other line reaches more than they can.
    expect_equal("allocations and frees by flags", rows, {0: (4, 3), 16: (7, 7)})
    box_peak = {site["flags"]: bytes_at_peak(trace, site) for site in sites[1]}
    expect_equal("bytes at the last peak", box_peak, {0: 512, 16: 0})
    trace, sites = sites_by_number(box, events[:8])
    box_peak = {site["flags"]: bytes_at_peak(trace, site) for site in sites[1]}
    expect_equal("bytes at the first peak", box_peak, {0: 512, 16: 1024})


def test_replaced(box):
    """An address given out again keeps its site and birth step; frees of nothing are counted."""
    events = [("a", 0, 0x1000, 512, 1), ("s",), ("a", 0, 0x1000, 2048, 2), ("s",), ("s",)]
    events += [("f", 0, 0x7000, 512), ("a", 0, 0x7000, 512, 3), ("s",), ("f", 0, 0x1000), ("s",)]
    trace, _ = check_books(box, events)
    expect_equal("replaced", trace.state["replaced"], 1)
    expect_equal("unknown frees", trace.state["unknown_frees"], 1)


def test_pause(box):
    """Steps, phases and events in between pass by; only the events are counted."""
    meanwhile = [("z",), ("a", 0, 0x2000, 512, 2), ("s",), ("p", "quiet"), ("f", 0, 0x2000), ("y",)]
    events = [*simple_steps(3), *meanwhile, *simple_steps(0), ("a", 0, 0x3000, 512, 2), ("s",)]
    trace, _ = check_books(box, events)
    expect_equal("marks", trace.committed, 4)
    expect_equal("paused events", trace.state["paused_events"], 2)
    expect_equal("notes", trace.notes(), [])


def test_pause_first(box):
    """A pause before the first event holds; it ends with the first event after gpuleak_resume()."""
    events = [("z",), ("a", 0, 0x2000, 512, 2), ("s",), ("y",), *simple_steps(2)]
    trace, _ = check_books(box, events)
    expect_equal("marks", trace.committed, 2)
    replay(box, [("z",), *simple_steps(3)])
    expect_equal("traces", box.traces(), ["trace.bin"])


def events_since_last_mark(trace):
    ring = list(trace.events())
    last_mark = max(i for i, event in enumerate(ring) if event["kind"] == "mark")
    return ring[last_mark + 1 :]


def end_with_events(box, *end, code=0):
    """The events of the ring since the last mark, after which 70 were made; they are the first."""
    made = [("a", 0, 0x2000000 + 0x1000 * i, 512, 2) for i in range(70)]
    replay(box, [*simple_steps(3), *made, *end], code=code)
    found = [event["address"] for event in events_since_last_mark(box.trace())]
    expect_equal("their addresses", found, [event[2] for event in made][: len(found)])
    return len(found)


def test_last_events(box):
    """What came after the last mark is in the ring, also where no destructor runs; there a slot may
    be one writing behind."""
    for end in ("e", "E") if box.writer != "slots" else ("e",):
        expect_equal(f"events, ended by {end}", end_with_events(box, (end, 0)), 70)
        paused = end_with_events(box, ("z",), (end, 0))
        expect_equal(f"events, ended by {end} while paused", paused, 70)


def test_notes(box):
    """Phases by gpuleak_mark(), and what PyTorch could not serve."""
    events = [*simple_steps(2), ("p", "eval one"), ("r", 0, 3 << 20), ("o", 0, 7 << 30, 5), ("s",)]
    events += [("p", "x" * 300), ("s",)]
    trace, _ = check_books(box, events)
    phase, oom, long = trace.notes()
    expect_equal("phase", (phase["kind"], phase["text"], phase["step"]), (2, "eval one", 3))
    expect_equal("long phase", long["text"], "x" * 255)
    expect_equal(
        "out of memory",
        [oom[n] for n in ("kind", "step", "device", "size", "allocated", "held")],
        [1, 3, 0, 7 << 30, 1024, 3 << 20],
    )
    stack = SiteNumbers(box.program("replay")).number(trace.frames(oom["stack"]))
    expect_equal("its stack", stack, 5)


def test_names_of_frames(box):
    """At the end the native frames have their functions' names and module paths."""
    trace, _ = check_books(box, simple_steps(3, site=0xAB))
    site = next(s for s in trace.sites() if s["live_bytes"])
    names = [frame["function"] for frame in site["frames"]]
    for name in ("fake_alloc_at", "site_a", "site_b", "__libc_start_main"):
        expect(name in names, f"{name} is not among {names}")
    module = site["frames"][names.index("site_a")]["module"]
    expect_equal("module", module, str(box.program("replay")))


def test_ten_thousand_stacks(box):
    """More than a third of them hold memory; the others' blocks live within a step."""
    events = []
    for number in range(10_000):
        address = 0x1000000 + 0x200 * number
        events.append(("a", 0, address, 512, number * 7))
        if number % 3:
            events.append(("f", 0, address))
        if number % 500 == 499:
            events.append(("s",))
    trace, _ = check_books(box, events, env={"GPULEAK_SIZE": "64M"})
    expect_equal("sites", trace.state["sites_used"], 10_000)


if __name__ == "__main__":
    main(globals())
