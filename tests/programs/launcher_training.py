"""`gpuleak run --sim` and `gpuleak check` with the real parts, on real PyTorch.

    launcher_training.py --build FOLDER [--python PYTHON] [TEST]...   without its "test_"

Exit 77 where PyTorch isn't there.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

SKIP = 77
ROOT = Path(__file__).resolve().parents[2]

# An optimizer of tests/torture: PyTorch's own import its compiler, for seconds.
TRAINING = """
import os, signal, sys, torch
from tiny import Momentum
from torch import nn

how = sys.argv[1]
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
opt = Momentum(net.parameters())
kept = []
for step in range(60):
    x = torch.randn(32, 64).cuda()
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if how != "clean":
        kept.append(x)
if how == "raise":
    raise ValueError("an error of the program")
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
print("trained")
"""

LEAKING_LINE = 1 + TRAINING.split("\n").index("    x = torch.randn(32, 64).cuda()")


class Place:
    """A folder to run in, with the training program in it."""

    def __init__(self, build: Path, python: Path):
        self.build, self.python = build, python
        self.here = Path(tempfile.mkdtemp(prefix="launcher-training-"))
        (self.here / "train.py").write_text(TRAINING)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.here)

    def gpuleak(self, *arguments, cwd: Path = None, **environment) -> subprocess.CompletedProcess:
        clean = {name: value for name, value in os.environ.items() if name[:8] != "GPULEAK_"}
        clean["PYTHONPATH"] = str(ROOT / "tests/torture")
        return subprocess.run([self.build / "gpuleak", *arguments], cwd=cwd or self.here,
                              env={**clean, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=100)

    def run(self, *command, options: tuple = (), **environment) -> subprocess.CompletedProcess:
        return self.gpuleak("run", "--sim", *options, "--", self.python, *command, **environment)

    def names(self) -> list:
        return sorted(path.name for path in self.here.glob("*.bin*"))


def equal(actual, expected, why: str = ""):
    assert actual == expected, f"{actual!r}, expected {expected!r}\n{why}"


def leaking_lines(report: Path) -> set:
    sites = json.loads(report.read_text())["devices"][0]["sites"]
    return {site["where"]["line"] for site in sites if site["verdict"] == "LEAK"}


def test_leak(place: Place):
    done = place.run("train.py", "leak", options=("--json", "report.json"))
    equal((done.returncode, done.stdout), (101, "trained\n"), done.stderr)
    assert "LEAK" in done.stderr and f"train.py:{LEAKING_LINE}" in done.stderr, done.stderr
    equal(leaking_lines(place.here / "report.json"), {LEAKING_LINE})
    done = place.run("train.py", "leak", options=("--fail-on", "none"))
    equal(done.returncode, 0, done.stderr)


def test_no_leak(place: Place):
    done = place.run("train.py", "clean")
    equal((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
    done = place.run("train.py", "clean", options=("--require-steps", "61"))
    equal(done.returncode, 103, done.stderr)


def test_program_that_fails(place: Place):
    done = place.run("train.py", "raise")
    equal(done.returncode, 1, done.stderr)
    assert "an error of the program" in done.stderr and "LEAK" in done.stderr, done.stderr


def test_program_that_is_killed(place: Place):
    done = place.run("train.py", "kill", options=("--json", "report.json"))
    equal((done.returncode, done.stdout), (137, ""), done.stderr)
    equal(leaking_lines(place.here / "report.json"), {LEAKING_LINE})


def test_yesterdays_trace_and_no_gpu_today(place: Place):
    place.run("train.py", "leak")
    yesterday = (place.here / "trace.bin").read_bytes()
    for program in ["print('no torch')", "import torch; torch.zeros(3)"]:
        done = place.run("-c", program)
        equal(done.returncode, 2, done.stderr)
        assert "LEAK" not in done.stderr, done.stderr
    equal((place.here / "trace.bin.old").read_bytes(), yesterday)


def test_suppressions(place: Place):
    """With the example's rules the example passes; a bad file is found before the program runs."""
    example, rules = ROOT / "docs/examples/train.py", ROOT / "docs/examples/suppressions.txt"
    options = ("--suppressions", str(rules), "--peak", "--json", "report.json")
    done = place.run(example, options=options)
    equal(done.returncode, 0, done.stderr)
    assert "Peak of " in done.stderr, done.stderr
    report = json.loads((place.here / "report.json").read_text())
    assert report["devices"][0]["peak"]["made_of"], "no peak in JSON"
    used = [rule["used"] for rule in report["suppressions"]]
    assert len(used) == 3 and all(used), f"rules of the example are not used: {used}"

    (place.here / "bad.txt").write_text("leak:file:train.py\n")
    done = place.run("train.py", "leak", options=("--suppressions", "bad.txt"))
    equal(done.returncode, 2, done.stderr)
    assert "bad.txt:1: no reason" in done.stderr, done.stderr
    equal(done.stdout, "", "the program ran")


def test_baseline(place: Place):
    """Yesterday's leak is known today; a baseline that makes way for the trace is told of."""
    equal(place.run("train.py", "leak", options=("--json", "report.json")).returncode, 101)
    for baseline in ("report.json", "old.bin"):
        if baseline == "old.bin":
            (place.here / "trace.bin").rename(place.here / "old.bin")
        done = place.run("train.py", "leak", options=("--baseline", baseline))
        equal(done.returncode, 0, done.stderr)
        assert "beside the baseline 1 known" in done.stderr, done.stderr
    done = place.run("train.py", "leak", options=("--baseline", "trace.bin"))
    equal((done.returncode, done.stdout), (2, ""), done.stderr)
    assert "has been renamed" in done.stderr, done.stderr


def test_memory_and_devices(place: Place):
    full = "import torch; torch.empty(200 << 20, dtype=torch.uint8, device='cuda')"
    done = place.run("-c", full, options=("--memory", "100M"))
    equal(done.returncode, 1, done.stderr)
    assert "OutOfMemoryError" in done.stderr, done.stderr
    count = "import torch; torch.zeros(1, device='cuda:1'); print(torch.cuda.device_count())"
    equal(place.run("-c", count, options=("--devices", "2")).stdout, "2\n")


def test_several_processes(place: Place):
    spawn = """
import subprocess, sys
training = [subprocess.Popen([sys.executable, "train.py", "leak"]) for _ in range(2)]
sys.exit(max(process.wait() for process in training))
"""
    done = place.run("-c", spawn, options=("--json", "report.json"))
    equal(done.returncode, 101, done.stderr)
    report = json.loads((place.here / "report.json").read_text())
    equal((len(report["traces"]), report["verdict"]), (2, "LEAK"))
    equal(len(place.names()), 2)


def test_program_that_changes_its_folder(place: Place):
    """Between the import and the first tensor, as some frameworks do."""
    (place.here / "elsewhere").mkdir()
    program = "import torch, os; os.chdir('elsewhere'); torch.zeros(1, device='cuda')"
    done = place.run("-c", program, options=("--require-steps", "1"))
    equal((done.returncode, place.names()), (103, ["trace.bin"]), done.stderr)


def test_program_started_elsewhere(place: Place):
    (place.here / "elsewhere").mkdir()
    script = f"cd elsewhere; {place.python} ../train.py leak"
    done = place.gpuleak("run", "--sim", "--", "sh", "-c", script)
    equal((done.returncode, place.names()), (101, ["trace.bin"]), done.stderr)
    done = place.gpuleak("run", "--sim", "--", "sh", "-c", script, RANK="3")
    names = ["trace.bin.old", "trace.rank3.bin"]
    equal((done.returncode, place.names()), (101, names), done.stderr)


def test_without_the_tracer(place: Place):
    done = place.run("train.py", "leak", options=("--no-trace",))
    equal((done.returncode, done.stdout, place.names()), (0, "trained\n", []), done.stderr)


def test_stand_ins_by_preload(place: Place):
    done = place.run("train.py", "leak", GPULEAK_SIM_LOADER="preload")
    equal((done.returncode, done.stdout), (101, "trained\n"), done.stderr)


def test_build_folder_with_a_space(place: Place):
    build = place.here / "with space"
    build.mkdir()
    for part in ["gpuleak", "gpuleak-report", "libgpuleak.so"]:
        shutil.copy(place.build / part, build / part)
    shutil.copytree(place.build / "sim", build / "sim")
    moved = Place(build, place.python)
    with moved:
        done = moved.run("train.py", "leak", TMPDIR=str(place.here))
        equal((done.returncode, done.stdout), (101, "trained\n"), done.stderr)


def test_preloaded_library_with_many_variables(place: Place):
    """As jemalloc has: beside an audit library the loader has no room for them by itself."""
    library = place.build / "tests/programs/libstatic_tls.so"
    audit = place.build / "sim/libgpuleak-sim.so"
    alone = subprocess.run(["true"], env={"LD_PRELOAD": str(library), "LD_AUDIT": str(audit)},
                           stderr=subprocess.PIPE, text=True)
    assert "static TLS" in alone.stderr, f"the library is no trouble: {alone.stderr}"
    done = place.run("train.py", "clean", LD_PRELOAD=str(library), GPULEAK_SIM_LOADER="audit")
    equal((done.returncode, done.stdout), (0, "trained\n"), done.stderr)


def test_check(place: Place):
    temporary = place.here / "tmp"
    temporary.mkdir()
    done = place.gpuleak("check", place.python, TMPDIR=str(temporary))
    equal((done.returncode, done.stderr), (0, ""), done.stdout)
    equal((place.names(), list(temporary.iterdir())), ([], []))
    assert done.stdout.startswith("gpuleak ") and " works here" in done.stdout.split("\n")[0]
    for item in ["tracer", "reader", "glibc", "python", "PyTorch", "simulated GPU"]:
        assert f"\n  ok   {item}" in done.stdout, done.stdout
    done = place.gpuleak("check", "/no/such/python")
    equal(done.returncode, 1)
    assert "cannot trace here; python: /no/such/python" in done.stdout, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--python", type=Path, default=ROOT / "build/venv/bin/python")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if not arguments.python.exists():
        print(f"skipped: no Python with PyTorch at {arguments.python}")
        return SKIP
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    failed = 0
    for name in arguments.names or tests:
        try:
            with Place(arguments.build.resolve(), arguments.python) as place:
                tests[name](place)
        except Exception:  # noqa: BLE001 - each test is told of
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
