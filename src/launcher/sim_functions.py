"""Which functions an installed PyTorch imports from CUDA's libraries, and what the simulated GPU
does for each.  Run by `gpuleak check --sim` with the user's Python, without importing torch:

    python -c PROGRAM SIM ALL

SIM has the stand-ins in lib/. Their stubs are weak symbols; unsupported/ has the names of those that
say "not supported", in a file for each. ALL is 1 to name every function. The first line printed is the
answer; exit code 1: something is missing, 2: no PyTorch.
"""
import importlib.util
import mmap
import os
import re
import struct
import sys

CUDA = re.compile(r"lib(cu|nv|nccl)[A-Za-z_-]*\.so[.\d]*$")
FUNCTION = re.compile(r"(__)?(cu[A-Z]|cuda[A-Z]|cudnn|cu(blas|fft|rand|solver|sparse|pti)|nccl|nv(ml|rtc|tx|shmem))")
DYNAMIC, DYNSYM, VERSYM, VERNEED = 6, 11, 0x6FFFFFFF, 0x6FFFFFFE
NEEDED, GLOBAL, WEAK = 1, 1, 2
STATES = ("simulated", "not supported", "missing")


class Library:
    """What one shared library (ELF, 64 bit, little-endian) needs, imports and defines."""

    def __init__(self, path):
        self.needed, self.imports, self.defined, self.weak = [], [], set(), set()
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < 64:
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if data[:6] == b"\x7fELF\x02\x01":
                    self.read(data)

    def read(self, data):
        offset, = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        # name, type, flags, address, offset, size, link, info, alignment, entry size
        parts = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
        kinds = {part[1]: part for part in parts}
        if DYNSYM not in kinds or DYNAMIC not in kinds:
            return
        strings = parts[kinds[DYNSYM][6]]
        names = data[strings[4]:strings[4] + strings[5]]

        def text(at):
            return names[at:names.index(b"\0", at)].decode()

        def bytes_of(kind):
            part = kinds.get(kind)
            return data[part[4]:part[4] + part[5]] if part else b""

        for tag, value in struct.iter_unpack("<QQ", bytes_of(DYNAMIC)):
            if tag == NEEDED:
                self.needed.append(text(value))
        versions = self.versions(bytes_of(VERNEED), text)
        numbers = [number for number, in struct.iter_unpack("<H", bytes_of(VERSYM))]
        symbols = struct.iter_unpack("<IBBHQQ", bytes_of(DYNSYM))
        for i, (name, info, _, section, _, _) in enumerate(symbols):
            if section:
                self.defined.add(text(name))
                if info >> 4 == WEAK:
                    self.weak.add(text(name))
            elif info >> 4 == GLOBAL:
                number = numbers[i] & 0x7FFF if i < len(numbers) else 1
                self.imports.append((text(name), versions.get(number, "")))

    @staticmethod
    def versions(data, text):
        """The library that each version number means."""
        found, at = {}, 0
        while at + 16 <= len(data):
            _, count, file, extra, following = struct.unpack_from("<HHIII", data, at)
            extra += at
            for _ in range(count):
                _, _, number, _, step = struct.unpack_from("<IHHII", data, extra)
                found[number] = text(file)
                extra += step
            if not following:
                break
            at += following
        return found


def read_kinds(sim):
    """Of each stand-in what becomes of a call of each function."""
    kinds = {}
    for name in sorted(os.listdir(os.path.join(sim, "unsupported"))):
        with open(os.path.join(sim, "unsupported", name)) as file:
            unsupported = set(file.read().split())
        library = Library(os.path.join(sim, "lib", name))
        kinds[name] = {function: "not supported" if function in unsupported & library.weak
                       else "simulated" for function in library.defined}
    return kinds


def package(name):
    """The package's folder, without importing it."""
    spec = importlib.util.find_spec(name)
    places = spec.submodule_search_locations if spec else None
    return list(places)[0] if places else None


def libraries_of(folder):
    paths = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names
             if ".so" in name and not os.path.islink(os.path.join(top, name))]
    return [Library(path) for path in sorted(paths)]


def imported(libraries, kinds):
    """(library of CUDA, function) for all that is imported."""
    own = set().union(*(library.defined for library in libraries))
    home = {}
    for soname, functions in kinds.items():
        for function in functions:
            home.setdefault(function, soname)
    found = set()
    for library in libraries:
        unversioned = [name for name in library.needed if CUDA.match(name) and name not in kinds]
        found.update((name, None) for name in unversioned)
        for function, soname in library.imports:
            if CUDA.match(soname):
                found.add((soname, function))
            elif not soname and FUNCTION.match(function) and function not in own:
                found.add((home.get(function, "of no library"), function))
    return found


def judge(found, kinds):
    """Of each library of CUDA its functions by what becomes of a call."""
    table = {}
    for soname, function in found:
        row = table.setdefault(soname, {state: [] for state in STATES})
        kind = kinds.get(soname, {}).get(function, "missing")
        if function:
            row[kind].append(function)
    return table


def wrapped(label, words):
    line = "    %-14s" % label
    for word in sorted(words):
        if len(line) + 1 + len(word) > 100:
            print(line)
            line = " " * 18
        line += " " + word
    print(line)


def version_of_torch():
    try:
        from importlib.metadata import version
        return version("torch")
    except Exception:  # torch in a folder of its own, or Python 3.7
        return "of unknown version"


def print_table(table, everything):
    for soname in sorted(table):
        row = table[soname]
        print("  %-24s" % soname, "".join("%5d %s" % (len(row[state]), state) for state in STATES))
        for state in reversed(STATES):
            if row[state] and (everything or state != "simulated"):
                wrapped(state, row[state])


def main():
    torch = package("torch")
    if not torch:
        print("no PyTorch in %s; name its Python: gpuleak check --sim /path/to/python"
              % sys.executable)
        return 2
    kinds = read_kinds(sys.argv[1])
    libraries = libraries_of(torch)
    for name in ("torchvision", "torchaudio"):
        libraries += libraries_of(package(name)) if package(name) else []
    table = judge(imported(libraries, kinds), kinds)
    counts = [sum(len(row[state]) for row in table.values()) for state in STATES]
    print("PyTorch %s imports %d functions of CUDA: %d simulated, %d answered with \"not "
          "supported\", %d missing" % (version_of_torch(), sum(counts), *counts))
    print_table(table, sys.argv[2] == "1")
    return 1 if counts[-1] or not set(table) <= set(kinds) else 0


sys.exit(main())
