"""A second reader of trace files, for tests: what docs/trace-format.md says, in Python.

Independent of the C reader on purpose, and for sound files only.
Run by itself it prints a trace: python trace.py trace.bin
"""
import struct
import sys

SECTIONS = {
    1: "run", 2: "state", 3: "strings", 4: "frames", 5: "stacks", 6: "sites",
    7: "evidence", 8: "devices", 9: "timeline", 10: "notes", 11: "ring", 12: "host",
}
RUN = struct.Struct("<IIiiQQ16IQ")
RUN_NAMES = (
    "pid flags rank world_size started ring_page_size host argv folder program python torch cuda "
    "tracer stdlib packages main_file main_package python_why native_why optimizer empty_why "
    "run_started"
).split()
STATE_NAMES = (
    "begun committed "
    "mark0 when0 events0 parameters_count0 _0 parameters_bytes0 "
    "mark1 when1 events1 parameters_count1 _1 parameters_bytes1 "
    "status clock gave_up_why devices strings_used frames_used stacks_used sites_used "
    "evidence_used notes_used ring_claimed dropped_events dropped_sites dropped_blocks "
    "dropped_evidence dropped_notes unknown_frees replaced paused_events finished"
).split()
SITE_VERSION = struct.Struct("<6Q8I")
SITE_NAMES = (
    "mark allocs frees alloc_bytes live_bytes peak_bytes peak_epoch live_blocks first_step "
    "last_step max_age rounds evidence filled"
).split()
DEVICE_VERSION = struct.Struct("<10Q8I2I5Q")
DEVICE_NAMES = (
    "mark allocated reserved peak peak_reserved first_allocated first_reserved outside "
    "outside_peak allocs blocks peak_epoch peak_step outside_epoch timeline_half timeline_count "
    "timeline_shift _ open_first open_last open_when open_allocated open_peak open_trough "
    "open_reserved"
).split()
TIMELINE = struct.Struct("<2I5Q")
FRAME = struct.Struct("<Q8I")
EVENT = struct.Struct("<QqQII")
EVIDENCE = struct.Struct("<Q4I24I")
EVIDENCE_SIZE = 1400
TEETH = struct.Struct("<11I")
TEETH_NAMES = (
    "count first_step last_step shortest longest tallest highest lowest lowest_step falling collected"
).split()
BIRTH = struct.Struct("<IIQ")  # bucket, count, bytes
LEVEL = struct.Struct("<QQII")  # lowest and highest bytes, lowest and highest blocks
NOTE = struct.Struct("<IIQIIQQQII")
KINDS = {1: "alloc", 2: "free", 3: "malloc", 4: "cuda_free", 5: "reserved", 6: "mark", 7: "oom", 8: "restart"}


def written_last(content):
    """Of a file with two slots the trace that was written last; else all of it."""
    if content[:8] != b"GPULKSL\0":
        return content
    _major, _minor, head, order, count, size, *slots = struct.unpack_from("<HHIIIQ4Q", content, 8)
    assert (head, order, count) == (64, 0x01020304, 2), "not slots"
    written, offset = max(zip(slots[::2], slots[1::2]))
    assert written, "neither slot is whole"
    return content[offset : offset + size]


class Trace:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = written_last(file.read())
        magic, major, _minor, _header, order, count, self.size = struct.unpack_from(
            "<8sHHIIIQ", self.bytes
        )
        assert magic == b"GPULEAK\0" and major == 2 and order == 0x01020304, "not a trace"
        self.sections = {}
        for i in range(count):
            kind, item, offset, size = struct.unpack_from("<IIQQ", self.bytes, 32 + 24 * i)
            self.sections[SECTIONS.get(kind, kind)] = (offset, size, item)
        self.run = dict(zip(RUN_NAMES, RUN.unpack_from(self.bytes, self.at("run"))))

        self.state = dict(zip(STATE_NAMES, self._state()))
        self.committed = self.state["committed"]

    def at(self, section, item=0):
        offset, size, stride = self.sections[section]
        assert 0 <= item * stride < size, (section, item)
        return offset + item * stride

    def _state(self):
        values = struct.unpack_from("<2Q" + "3Q2IQ" * 2 + "4I16Q", self.bytes, self.at("state"))
        return values

    def string(self, number):
        if number == 0:
            return None
        at = self.sections["strings"][0] + 4 * number
        (size,) = struct.unpack_from("<I", self.bytes, at)
        return self.bytes[at + 4 : at + 4 + size].decode("utf-8", "surrogateescape")

    def _newest(self, layout, names, at):
        versions = [
            dict(zip(names, layout.unpack_from(self.bytes, at + i * layout.size)))
            for i in range(2)
        ]
        sound = [v for v in versions if 0 < v["mark"] <= self.committed]
        return max(sound, key=lambda v: v["mark"], default=None)

    def sites(self):
        """Sites with a version of a committed mark, with their frames."""
        found = []
        for number in range(self.state["sites_used"]):
            at = self.at("sites", number)
            _key, stack, device, source, flags = struct.unpack_from("<QIHBB", self.bytes, at)
            site = self._newest(SITE_VERSION, SITE_NAMES, at + 32)
            if site is None:
                continue
            site.update(number=number, device=device, source=source, flags=flags)
            site["frames"] = self.frames(stack)
            found.append(site)
        return found

    def evidence(self, site):
        """The birth-step evidence of one of sites(), or None."""
        if not site["evidence"]:
            return None
        at = self.at("evidence", site["evidence"] - 1)
        (owner,) = struct.unpack_from("<I", self.bytes, at)
        assert owner == site["number"], "evidence of another site"
        versions = [EVIDENCE.unpack_from(self.bytes, at + 8 + i * EVIDENCE_SIZE) for i in range(2)]
        sound = [i for i in range(2) if 0 < versions[i][0] <= self.committed]
        if not sound:
            return None
        newest = max(sound, key=lambda i: versions[i][0])
        teeth = TEETH.unpack_from(self.bytes, at + 8 + 2 * EVIDENCE_SIZE + newest * TEETH.size)
        at += 8 + newest * EVIDENCE_SIZE + EVIDENCE.size
        _mark, birth_shift, births, level_shift, levels, *deaths = versions[newest]
        return {
            "birth_shift": birth_shift,
            "level_shift": level_shift,
            "deaths": deaths,
            "teeth": dict(zip(TEETH_NAMES, teeth)),
            "births": [BIRTH.unpack_from(self.bytes, at + 16 * i) for i in range(births)],
            "levels": [LEVEL.unpack_from(self.bytes, at + 512 + 24 * i) for i in range(levels)],
        }

    def frames(self, stack):
        base = self.sections["stacks"][0]
        count, _flags = struct.unpack_from("<II", self.bytes, base + 4 * stack)
        return [
            self.frame(number)
            for number in struct.unpack_from("<%dI" % count, self.bytes, base + 4 * stack + 8)
        ]

    def caller(self, site):
        """Of the frames of one of sites() those that called backward() in another thread."""
        at = self.at("sites", site["number"]) + 8
        (stack,) = struct.unpack_from("<I", self.bytes, at)
        count, flags = struct.unpack_from(
            "<II", self.bytes, self.sections["stacks"][0] + 4 * stack
        )
        return site["frames"][count - (flags >> 16) :]

    def frame(self, number):
        offset, language, line, first, file, function, qualname, module, _build = FRAME.unpack_from(
            self.bytes, self.at("frames", number)
        )
        return {
            "language": language, "line": line, "first_line": first, "offset": offset,
            "file": self.string(file), "function": self.string(function),
            "qualname": self.string(qualname), "module": self.string(module),
        }

    def devices(self):
        found = {}
        for number in range(self.state["devices"]):
            at = self.at("devices", number)
            device, name, uuid, _r, capacity = struct.unpack_from("<IIIIQ", self.bytes, at)
            version = self._newest(DEVICE_VERSION, DEVICE_NAMES, at + 24)
            if version is None:
                continue
            version.update(
                device=device, name=self.string(name), uuid=self.string(uuid), capacity=capacity
            )
            version["timeline"] = self._timeline(number, version)
            found[device] = version
        return found

    def host(self):
        """Host memory at the last mark, or None."""
        names = "mark resident own pinned first_resident first_pinned peak_resident peak_pinned"
        names = [*names.split(), "level_shift", "level_count"]
        base, layout = self.at("host"), struct.Struct("<8Q2I")
        versions = []
        for at in (base, base + layout.size + 64 * 32):
            found = dict(zip(names, layout.unpack_from(self.bytes, at)))
            found["levels"] = [
                struct.unpack_from("<4Q", self.bytes, at + layout.size + 32 * i)
                for i in range(found["level_count"])
            ]
            versions.append(found)
        sound = [v for v in versions if 0 < v["mark"] <= self.committed]
        return max(sound, key=lambda v: v["mark"], default=None)

    def _timeline(self, number, version):
        offset, size, stride = self.sections["timeline"]
        share = size // stride // 16 // 2
        base = offset + (2 * number + version["timeline_half"]) * share * stride
        names = "first_step last_step when allocated peak trough reserved".split()
        return [
            dict(zip(names, TIMELINE.unpack_from(self.bytes, base + i * stride)))
            for i in range(version["timeline_count"])
        ]

    def events(self):
        """The ring's events, oldest page first."""
        offset, size, stride = self.sections["ring"]
        pages = []
        for i in range(size // stride):
            sequence, allocated, reserved, device, _p = struct.unpack_from(
                "<QQQII", self.bytes, offset + i * stride
            )
            if sequence:
                pages.append((sequence, offset + i * stride, device))
        for sequence, at, device in sorted(pages):
            for i in range(127):
                address, size, when, site, step = EVENT.unpack_from(self.bytes, at + 32 * (i + 1))
                kind = when >> 56
                if not kind:
                    break
                yield {
                    "kind": KINDS[kind], "address": address, "size": size, "site": site,
                    "step": step, "device": device, "when": when & ((1 << 56) - 1),
                }

    def notes(self):
        names = "kind step when device stack size allocated held text".split()
        found = []
        for i in range(self.state["notes_used"]):
            values = NOTE.unpack_from(self.bytes, self.at("notes", i))
            note = dict(zip(names, values))
            note["text"] = self.string(note["text"])
            found.append(note)
        return found


def main():
    trace = Trace(sys.argv[1])
    for name, value in trace.run.items():
        text = name in RUN_NAMES[6:]
        print("%-16s %s" % (name, repr(trace.string(value)) if text else value))
    print({k: v for k, v in trace.state.items() if v})
    for device in trace.devices().values():
        print({k: v for k, v in device.items() if k != "timeline"})
    for site in sorted(trace.sites(), key=lambda s: -s["live_bytes"]):
        print(
            "%10d bytes %6d blocks %8d allocs %8d frees rounds %d age %d flags %d" % tuple(
                site[k] for k in
                ("live_bytes", "live_blocks", "allocs", "frees", "rounds", "max_age", "flags")
            )
        )
        for frame in site["frames"][:6]:
            print("      %(file)s:%(line)s %(function)s %(module)s" % frame)


if __name__ == "__main__":
    main()
