"""What a trace must say of a list of events: every statistic, counted a second time.

Events are tuples as in the list that `replay` reads: ("a", device, address, size, site), ("f",
device, address), ("s",) and so on.  Nothing is kept in bounded memory here and nothing is coarse,
so what the trace has folded together is compared with what folding the truth would give.
"""

from collections import defaultdict

TORCH, CUDART = 1, 2
SEGMENT = 2  # flag of a site

class Block:
    def __init__(self, key, size, birth):
        self.key, self.size, self.birth = key, size, birth


class Site:
    """One (device, source, flags, stack number)."""

    def __init__(self, step):
        self.allocs = self.frees = self.alloc_bytes = self.live_bytes = self.live_blocks = 0
        self.first_step, self.last_step = step, 0
        self.max_age = self.rounds = 0
        self.promoted = False  # held memory across a mark
        self.deaths = defaultdict(int)  # age in steps -> blocks
        self.births = {}  # step -> [blocks, bytes] that live
        self.series = []  # (step, bytes, blocks) at the marks where it changed
        self.held = []  # (age) of blocks from older steps that were freed in this one
        self.temporaries = 0
        self.touched = False


class Device:
    def __init__(self):
        self.allocated = self.reserved = self.peak = self.peak_reserved = 0
        self.first_allocated = self.first_reserved = 0
        self.outside = self.outside_peak = self.allocs = 0
        self.peak_step = 0
        self.step_peak = self.step_trough = 0
        self.timeline = []  # (mark, allocated, peak, trough, reserved)
        self.ring = []  # (kind, address, size, site key or None, step)
        self.peak_event = self.outside_peak_event = -1
        self.torch, self.cuda = {}, {}  # address -> Block


class Model:
    """The state at the last of `marks` marks; `marks` None: at the last one of the list.

    Nothing counts before the first event that is recorded: there is no trace yet.
    """

    def __init__(self, events, marks=None, look_at=None):
        self.events = list(events)
        self.marks_wanted = marks
        self.sites, self.devices = {}, {}
        self.step = self.mark = 0
        self.paused = False
        self.totals = defaultdict(lambda: [0, 0])  # device -> PyTorch's allocated, reserved
        self.sizes = {}  # (device, address) -> bytes, by PyTorch's own books
        self.state = defaultdict(int)
        self.notes = []
        self.peaks = {}  # site key -> bytes at its device's peak
        self.looks = {}  # event of `look_at` -> each site's bytes after it
        self.at = -1
        for self.at, event in enumerate(self.events):
            if self.marks_wanted is not None and self.mark >= self.marks_wanted:
                break
            self._do(event)
            if look_at and self.at in look_at:
                self.looks[self.at] = {key: site.live_bytes for key, site in self.sites.items()}
        if look_at is None:
            self._find_peaks()

    def _do(self, event):
        kind = event[0]
        if kind in "zy":
            self.paused = kind == "z"
        elif kind == "r":
            self.totals[event[1]][1] = event[2]
        elif kind == "s":
            if not self.paused and self.devices:
                self._mark()
        elif kind == "p":
            if not self.paused and self.devices:
                self.notes.append(("phase", event[1]))
        elif kind == "o":
            self._oom(event)
        elif kind in "af":
            self._torch(event)
        elif kind in "gcGx":
            self._cuda(event)

    def device(self, number):
        if number not in self.devices:
            self.devices[number] = Device()
        return self.devices[number]

    def site(self, key):
        if key not in self.sites:
            self.sites[key] = Site(self.step)
        return self.sites[key]

    def _record(self, device, kind, address, size, key):
        device.ring.append((kind, address, size, key, self.step))

    def _reserve(self, device, reserved):
        if device.reserved != reserved:
            device.reserved = reserved
            device.peak_reserved = max(device.peak_reserved, reserved)
            self._record(device, "reserved", 0, reserved, None)

    def _allocate(self, device, allocated):
        device.allocated = allocated
        device.step_peak = max(device.step_peak, allocated)
        device.step_trough = min(device.step_trough, allocated)
        if allocated > device.peak:
            device.peak, device.peak_step, device.peak_event = allocated, self.step, self.at

    def _torch(self, event):
        kind, number, address = event[:3]
        totals = self.totals[number]
        if kind == "a":
            size = event[3]
            self.sizes[number, address] = size
            totals[0] += size
        else:
            known = self.sizes.pop((number, address), 0)
            size = known or (event[3] if len(event) > 3 else 0)
            totals[0] = (totals[0] - size) % (1 << 64)
        if size == 0:
            return
        known = number in self.devices and address in self.devices[number].torch
        if self.paused and not (kind == "f" and known):
            self.state["paused_events"] += bool(self.devices)
            return
        device = self.device(number)
        self.state["events"] += 1
        if kind == "a":
            device.allocs += 1
        self._reserve(device, totals[1])
        if kind == "a":
            key = (number, TORCH, 0, event[4])
            key = self._add(device.torch, key, address, size)
            self._record(device, "alloc", address, size, key)
        else:
            key = self._take(device.torch, address)
            self.state["unknown_frees"] += key is None
            self._record(device, "free", address, -size, key)
        self._allocate(device, totals[0])

    def _cuda(self, event):
        kind = event[0]
        if kind in "gc":
            self._cuda_malloc(*event)
        else:
            self._cuda_free(kind, event[-1] if kind == "x" else event[2], event)

    def _cuda_malloc(self, kind, number, address, size, stack):
        if kind == "g":
            self.totals[number][1] += size
        if self.paused:
            self.state["paused_events"] += bool(self.devices)
            return
        device = self.device(number)
        self.state["events"] += 1
        key = (number, CUDART, SEGMENT if kind == "g" else 0, stack)
        older = device.cuda[address].size if address in device.cuda else 0
        key = self._add(device.cuda, key, address, size)
        self._record(device, "malloc", address, size, key)
        if not key[2] & SEGMENT:
            device.outside += size - older
            if device.outside > device.outside_peak:
                device.outside_peak, device.outside_peak_event = device.outside, self.at

    def _cuda_free(self, kind, address, event):
        if kind == "G":
            self.totals[event[1]][1] -= event[3]
        for _number, device in sorted(self.devices.items()):
            if address in device.cuda:
                size = device.cuda[address].size
                key = self._take(device.cuda, address)
                self.state["events"] += 1
                self._record(device, "cuda_free", address, -size, key)
                if key[2] & SEGMENT:
                    if device.reserved >= size:
                        self._reserve(device, device.reserved - size)
                else:
                    device.outside -= size
                return

    def _oom(self, event):
        _, number, size, _stack = event
        if self.paused:
            self.state["paused_events"] += bool(self.devices)
            return
        device = self.device(number)
        self._record(device, "oom", 0, size, None)
        self.notes.append(("oom", number, size, *self.totals[number]))

    def _add(self, table, key, address, size):
        older = table.get(address)
        if older:  # re-created: it keeps its site and its birth
            site = self.site(older.key)
            self.state["replaced"] += 1
            site.live_bytes += size - older.size
            site.births[older.birth][1] += size - older.size
            older.size = size
            key = older.key
        else:
            site = self.site(key)
            table[address] = Block(key, size, self.step)
            site.allocs += 1
            site.alloc_bytes += size
            site.live_bytes += size
            site.live_blocks += 1
            born = site.births.setdefault(self.step, [0, 0])
            born[0] += 1
            born[1] += size
        site.touched = True
        site.last_step = self.step
        return key

    def _take(self, table, address):
        block = table.pop(address, None)
        if not block:
            return None
        site = self.sites[block.key]
        site.frees += 1
        site.live_bytes -= block.size
        site.live_blocks -= 1
        born = site.births[block.birth]
        born[0] -= 1
        born[1] -= block.size
        if not born[0]:
            del site.births[block.birth]
        if block.birth == self.step:
            site.temporaries += 1
        else:
            site.held.append(self.step - block.birth)
        site.touched = True
        site.last_step = self.step
        return block.key

    def _mark(self):
        self.mark += 1
        for site in self.sites.values():
            if site.touched:
                self._settle(site)
        for device in self.devices.values():
            self._record(device, "mark", 0, 0, None)
            device.timeline.append(
                (self.mark, device.allocated, device.step_peak, device.step_trough, device.reserved)
            )
            device.step_peak = device.step_trough = device.allocated
            if self.mark == 1:
                device.first_allocated, device.first_reserved = device.allocated, device.reserved
        self.mark_events = self.state["events"]
        self.step = self.mark + 1

    def _settle(self, site):
        site.promoted = site.promoted or site.live_blocks > 0
        for age in site.held:
            site.max_age = max(site.max_age, age)
            site.deaths[age] += 1
        if site.promoted:
            site.deaths[0] += site.temporaries
        site.rounds += self.step in site.births
        site.series.append((self.step, site.live_bytes, site.live_blocks))
        site.held, site.temporaries, site.touched = [], 0, False

    def _find_peaks(self):
        """Each site's bytes right after the event that made its device's highest total."""
        at = {
            (number, source): event
            for number, device in self.devices.items()
            for source, event in (
                (TORCH, device.peak_event), (CUDART, device.outside_peak_event)
            )
        }  # fmt: skip
        again = Model(self.events, self.marks_wanted, look_at=set(at.values()))
        for key in self.sites:
            self.peaks[key] = again.looks.get(at[key[:2]], {}).get(key, 0)
