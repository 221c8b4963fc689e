"""Libraries that come late or twice, hooks before main() and after exit(), jumps and exceptions."""

import re
import subprocess
from pathlib import Path

from target import Skip, expect, expect_equal, main


def totals(trace, device=0):
    sites = [s for s in trace.sites() if s["source"] == 1 and s["device"] == device]
    return tuple(sum(s[name] for s in sites) for name in ("allocs", "frees", "live_bytes"))


def load(box, mode, **options):
    return box.run(["loading", mode, box.programs / "fake"], **options)


def test_loaded_late(box):
    done = load(box, "late")
    expect_equal("standard error", done.stderr, "")
    expect_equal("marks", box.trace().committed, 4)
    expect_equal("allocations, frees, bytes", totals(box.trace()), (8, 4, 4 * 512))


def test_loaded_in_thread(box):
    load(box, "thread")
    expect_equal("marks", box.trace().committed, 6)
    expect_equal("allocations, frees, bytes", totals(box.trace()), (12, 6, 6 * 512))


def test_loaded_again(box):
    """After dlclose() the runtime's functions lie elsewhere."""
    load(box, "reload")
    trace = box.trace()
    expect_equal("marks", trace.committed, 4)
    # It hands out the same addresses each time: the first block is re-created, never a second.
    device = trace.devices()[0]
    expect_equal("outside", (device["outside"], device["outside_peak"]), (4096, 4096 + 8192))


def allocations_by_plugin(box, way):
    """For each stack: the libraries in it, and how many allocations it made."""
    done = box.run(["plugins", box.programs / "fake", way])
    if int(done.stdout) < 6:
        raise Skip("the libraries don't come to lie at one place")
    found = {}
    for site in box.trace().sites():
        frames = site["frames"]
        if site["allocs"] == 1:
            continue  # of main() itself
        names = [Path(frame["module"] or "?").name for frame in frames]
        expect_equal("outermost", (frames[-1]["function"], len(frames)), ("_start", 7))
        plugins = [name for name in names if "plugin_" in name]
        expect_equal("libraries in one stack", len(plugins), 1)
        found[plugins[0]] = found.get(plugins[0], 0) + site["allocs"]
        named = frames[names.index(plugins[0])]["function"]
        expect(named in (None, plugins[0][3:-3]), f"{named} in {plugins[0]}")
    return found


def test_library_in_anothers_place(box):
    """After dlclose() other code lies at the same addresses: rules, sites and names are its own."""
    for way in ("steps", "straight"):
        wanted = {"libplugin_one.so": 18, "libplugin_two.so": 18}
        expect_equal(f"allocations, {way}", allocations_by_plugin(box, way), wanted)


def test_no_cudart(box):
    """No CUDA: what asks ours by name hears that there is none, and nothing is written."""
    done = load(box, "without")
    expect_equal("errors and untouched results", done.stdout, "302 302 -1 1\n")
    expect_equal("standard error", done.stderr, "")
    expect_equal("files", box.files(), [])
    expect_equal("without the tracer", load(box, "without", traced=False).stdout, "0 0 -1 1\n")


def test_shell_pipeline(box):
    """Helpers that inherit LD_PRELOAD write nothing and say nothing."""
    script = "ls / | cat | wc -l; (echo a; echo b) | sort -r; python3 -c 'print(6 * 7)'; exit 5"
    env = {"GPULEAK_NONSENSE": "1"}
    traced = box.run(["/bin/sh", "-c", script], code=5, env=env)
    plain = box.run(["/bin/sh", "-c", script], code=5, traced=False, env=env)
    expect_equal("with the tracer", traced.stdout, plain.stdout)
    expect_equal("standard error", traced.stderr, plain.stderr)
    expect_equal("files", box.files(), [])


def test_before_and_after_main(box):
    """A constructor before ours: the settings are known all the same.  A destructor after ours."""
    out = "named/t.bin"
    (box.folder / "named").mkdir()
    done = box.run(["around_main"], code=3, env={"GPULEAK_OUT": out})
    expect_equal("output", (done.stdout, done.stderr), ("main was here\n", ""))
    expect_equal("files", box.files(), ["named"])
    trace = box.trace(out)
    expect_equal("marks", trace.committed, 2)
    expect_equal("size", len(trace.bytes), 4 << 20)
    expect_equal("dropped events", trace.state["dropped_events"], 0)
    expect_equal("allocations, frees, bytes", totals(trace), (5, 0, 4 * 512 + 4096))
    expect_equal("status", trace.state["status"], 2)


def test_longjmp(box):
    """A hook that is left by longjmp() doesn't blind the thread."""
    done = box.run(["unwinding"])
    expect_equal("output", done.stdout, "6 jumps\n")
    trace = box.trace()
    expect_equal("marks", trace.committed, 6)
    expect_equal("allocations", totals(trace)[0], 6 + 1)


def test_exception(box):
    done = box.run(["throwing"])
    expect_equal("output", (done.stdout, done.stderr), ("2005 caught\n", ""))
    trace = box.trace()
    expect_equal("marks", trace.committed, 6)
    expect_equal("allocations", totals(trace)[0], 5 + 1)
    expect_equal("allocations of both threads", totals(trace, 1)[0], 4000)


def test_library(box):
    """It needs libc alone, exports its hooks and nothing else, and never allocates for TLS."""
    dynamic = subprocess.run(["readelf", "-dW", str(box.tracer)], stdout=subprocess.PIPE, text=True)
    symbols = subprocess.run(["nm", "-D", str(box.tracer)], stdout=subprocess.PIPE, text=True)
    if dynamic.returncode or symbols.returncode:
        raise Skip("readelf and nm are needed")
    needed = [line.split("[")[1][:-1] for line in dynamic.stdout.splitlines() if "NEEDED" in line]
    expect_equal("needed libraries", needed, ["libc.so.6"])
    expect("TEXTREL" not in dynamic.stdout, "it has text relocations")
    lines = [line.split() for line in symbols.stdout.splitlines()]
    exports = {words[-1].split("@")[0] for words in lines if words[-2] not in "Uwv"}
    root = Path(__file__).resolve().parents[2]
    hooks = set(re.findall(r"^H\((\w+),", (root / "src/tracer/hooks.def").read_text(), re.M))
    header = (root / "include/gpuleak/gpuleak.h").read_text()
    public = set(re.findall(r"^void (gpuleak_\w+)\(", header, re.M))
    expect(len(hooks) > 5 and len(public) == 4, "the lists were not read")
    expect_equal("exports", sorted(exports), sorted(hooks | public))
    undefined = {words[-1].split("@")[0] for words in lines if words[-2] == "U"}
    expect("pthread_mutex_lock" in undefined, "the undefined symbols were not read")
    for name in ("__tls_get_addr", "abort", "exit", "_exit", "malloc", "free", "__assert_fail"):
        expect(name not in undefined, f"{name} is called")


if __name__ == "__main__":
    main(globals())
