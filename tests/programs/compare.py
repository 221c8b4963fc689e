"""Where a trace and the model of the same events differ, as a list of sentences."""

import re
import struct
import subprocess
from collections import defaultdict
from pathlib import Path

from model import CUDART, SEGMENT, TORCH

ELF_FUNCTION = re.compile(r"^([0-9a-f]+) ([0-9a-f]+) [tT] site_([0-9a-f])$", re.M)


class SiteNumbers:
    """Reads the number of site_call() back from native frames, by their offsets in the program.

    Not by their names: a process that was killed had no time to write all of them.
    """

    def __init__(self, program: Path):
        listing = subprocess.run(
            ["nm", "-S", str(program)], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        self.program = program.name
        self.ranges = [
            (int(start, 16), int(start, 16) + int(size, 16), digit)
            for start, size, digit in ELF_FUNCTION.findall(listing)
        ]
        assert len(self.ranges) == 16, f"{program} has no site functions"

    def number(self, frames):
        """The site number, or None for a stack without one."""
        digits = [self._digit(frame) for frame in frames]
        text = "".join(digit for digit in digits if digit)
        return int(text, 16) if text else None

    def _digit(self, frame):
        if not frame["module"] or Path(frame["module"]).name != self.program:
            return None
        before = frame["offset"] - 1  # within the call
        for start, end, digit in self.ranges:
            if start <= before < end:
                return digit
        return None


def key_of(site, numbers):
    number = numbers.number(site["frames"])
    return (site["device"], site["source"], site["flags"] & SEGMENT, number)


def _fields(what, got, wanted, names):
    return [
        f"{what}: {name} is {got[name]}, expected {getattr(wanted, name)}"
        for name in names
        if got[name] != getattr(wanted, name)
    ]


def _births(what, evidence, wanted):
    folded = defaultdict(lambda: [0, 0])
    for step, (count, size) in wanted.births.items():
        folded[step >> evidence["birth_shift"]][0] += count
        folded[step >> evidence["birth_shift"]][1] += size
    expected = [(bucket, *both) for bucket, both in sorted(folded.items())]
    if evidence["births"] != expected:
        return [f"{what}: births {evidence['births']}, expected {expected}"]
    return []


def _deaths(what, evidence, wanted):
    folded = [0] * 24
    for age, count in wanted.deaths.items():
        folded[min(age.bit_length(), 23)] += count
    if evidence["deaths"] != folded:
        return [f"{what}: deaths {evidence['deaths']}, expected {folded}"]
    return []


def _levels(what, evidence, wanted, last_step):
    """The series of bytes and blocks at each mark, folded into buckets."""
    values, changes, now = [], dict((s, (b, n)) for s, b, n in wanted.series), (0, 0)
    for step in range(last_step + 1):
        now = changes.get(step, now)
        values.append(now)
    width = 1 << evidence["level_shift"]
    for i, level in enumerate(evidence["levels"]):
        part = values[i * width : (i + 1) * width]
        # The last bucket was written at the site's last change: what follows is like it.
        sizes, blocks = [p[0] for p in part], [p[1] for p in part]
        expected = (min(sizes), max(sizes), min(blocks), max(blocks))
        if level != expected:
            return [f"{what}: level {i} of width {width} is {level}, expected {expected}"]
    rest = values[len(evidence["levels"]) * width :]
    if any(value != now for value in rest):
        return [f"{what}: levels end before the site's last change"]
    return []


def _teeth(what, evidence, wanted):
    """When the blocks had fallen to their lowest, before they rose again; ripples left out."""
    ends, tallest, top, bottom, when = [], 0, 0, None, 0
    for step, _size, blocks in wanted.series:
        turn = max(3, tallest // 2)
        if bottom is None and top - blocks >= turn:
            bottom, when = blocks, step
        elif bottom is None:
            top = max(top, blocks)
        elif blocks < bottom:
            bottom, when = blocks, step
        elif blocks - bottom >= turn:
            height = top - bottom
            ends = [when] if height // 2 > tallest else [*ends, when]
            tallest, top, bottom = max(tallest, height), blocks, None
    gaps = [b - a for a, b in zip(ends, ends[1:])]
    expected = {
        "count": len(ends),
        "first_step": ends[0] if ends else 0,
        "last_step": ends[-1] if ends else 0,
        "shortest": min(gaps, default=0),
        "longest": max(gaps, default=0),
        "tallest": tallest,
        "collected": 0,
    }
    got = {name: evidence["teeth"][name] for name in expected}
    return [f"{what}: teeth {got}, expected {expected}"] if got != expected else []


def _evidence(what, trace, got, wanted, last_step):
    evidence = trace.evidence(got)
    if wanted.promoted and not evidence:
        return [f"{what}: no evidence, though it held memory at a mark"]
    if not evidence:
        return []
    wrong = _births(what, evidence, wanted)
    wrong += _deaths(what, evidence, wanted)
    wrong += _levels(what, evidence, wanted, last_step)
    wrong += _teeth(what, evidence, wanted)
    if evidence["birth_shift"] and last_step < 32:
        wrong.append(f"{what}: births are coarse after {last_step} steps")
    return wrong


SITE_FIELDS = (
    "allocs frees alloc_bytes live_bytes live_blocks first_step last_step max_age rounds"
).split()
DEVICE_FIELDS = (
    "allocated reserved peak peak_reserved first_allocated first_reserved outside outside_peak "
    "allocs peak_step"
).split()


def _site(what, trace, device, model, key, got, last_step):
    wanted = model.sites[key]
    wrong = _fields(what, got, wanted, SITE_FIELDS)
    epoch = device["peak_epoch" if key[1] == TORCH else "outside_epoch"]
    at_peak = got["peak_bytes"] if got["peak_epoch"] == epoch else got["live_bytes"]
    if at_peak != model.peaks.get(key, 0):
        wrong.append(f"{what}: {at_peak} bytes at the peak, expected {model.peaks.get(key, 0)}")
    return wrong + _evidence(what, trace, got, wanted, last_step)


def compare_sites(trace, model, numbers):
    wrong, seen, devices = [], {}, trace.devices()
    for got in trace.sites():
        key = key_of(got, numbers)
        what = "site %s" % (key,)
        if key in seen:
            wrong.append(f"{what} is there twice")
        elif key not in model.sites or not model.sites[key].series:
            wrong.append(f"{what} should not be there")
        else:
            wrong += _site(what, trace, devices[key[0]], model, key, got, model.mark)
        seen[key] = got
    for key, site in model.sites.items():
        if key not in seen and site.series:
            wrong.append(f"site {key} is missing")
    return wrong


def _timeline(what, got, wanted):
    entries = list(got["timeline"])
    if got["open_first"]:
        names = "first_step last_step when allocated peak trough reserved".split()
        opened = "open_first open_last open_when open_allocated open_peak open_trough open_reserved"
        entries.append(dict(zip(names, (got[name] for name in opened.split()))))
    rows = {row[0]: row for row in wanted.timeline}
    first = wanted.timeline[0][0] if wanted.timeline else 1
    next_step, wrong, when = first, [], 0
    for entry in entries:
        part = [rows[s] for s in range(entry["first_step"], entry["last_step"] + 1) if s in rows]
        if entry["first_step"] != next_step or not part:
            return [f"{what}: the timeline jumps from {next_step} to {entry['first_step']}"]
        next_step = entry["last_step"] + 1
        expected = (
            part[-1][1], max(row[2] for row in part), min(row[3] for row in part), part[-1][4]
        )
        values = tuple(entry[n] for n in ("allocated", "peak", "trough", "reserved"))
        if values != expected:
            wrong.append(
                f"{what}: steps {entry['first_step']} to {entry['last_step']}: allocated, peak, "
                f"trough, reserved {values}, expected {expected}"
            )
        if entry["when"] < when:
            wrong.append(f"{what}: time goes back at step {entry['last_step']}")
        when = entry["when"]
    if entries and next_step != wanted.timeline[-1][0] + 1:
        wrong.append(f"{what}: the timeline ends with step {next_step - 1}")
    return wrong


def compare_devices(trace, model):
    wrong, found = [], trace.devices()
    for number, wanted in model.devices.items():
        what = f"device {number}"
        if not wanted.timeline:
            continue  # first seen after the last mark
        if number not in found:
            wrong.append(f"{what} is missing")
            continue
        wrong += _fields(what, found[number], wanted, DEVICE_FIELDS)
        if found[number]["blocks"] != len(wanted.torch):
            wrong.append(f"{what}: {found[number]['blocks']} blocks, not {len(wanted.torch)}")
        wrong += _timeline(what, found[number], wanted)
    for number in found:
        if number not in model.devices:
            wrong.append(f"device {number} should not be there")
    return wrong


def compare_ring(trace, model, numbers):
    """The newest events, in order; the oldest may have been overwritten."""
    wrong, got = [], defaultdict(list)
    keys = {}
    for site in range(trace.state["sites_used"]):
        _key, stack, device, source, flags = struct.unpack_from(
            "<QIHBB", trace.bytes, trace.at("sites", site)
        )
        keys[site] = (device, source, flags & SEGMENT, numbers.number(trace.frames(stack)))
    for event in trace.events():
        key = keys.get(event["site"])
        values = (event["kind"], event["address"], event["size"], key, event["step"])
        got[event["device"]].append(values)
    for number, device in model.devices.items():
        tail = got[number]
        expected = device.ring[len(device.ring) - len(tail) :]
        if not tail or tail != expected:
            at = next((i for i, pair in enumerate(zip(tail, expected)) if pair[0] != pair[1]), -1)
            wrong.append(
                f"device {number}: event {at} of {len(tail)} in the ring is "
                f"{tail[at] if tail else None}, expected {expected[at] if expected else None}"
            )
    return wrong


def compare(trace, model, numbers, ended=True):
    """All that differs; `ended`: the process got to the end of its list, so counts are final."""
    wrong = []
    if trace.committed != model.mark:
        wrong.append(f"{trace.committed} marks, expected {model.mark}")
    wrong += compare_devices(trace, model) + compare_sites(trace, model, numbers)
    if model.mark:
        last = "events%d" % (model.mark % 2)
        if trace.state[last] != model.mark_events:
            wrong.append(f"{trace.state[last]} events up to the mark, not {model.mark_events}")
    if ended:
        wrong += compare_ring(trace, model, numbers)
        for name in ("unknown_frees", "replaced", "paused_events"):
            if trace.state[name] != model.state[name]:
                wrong.append(f"{name} is {trace.state[name]}, expected {model.state[name]}")
    for name in ("events", "sites", "blocks", "evidence", "notes"):
        if trace.state["dropped_" + name]:
            wrong.append(f"dropped_{name} is {trace.state['dropped_' + name]}")
    return wrong
