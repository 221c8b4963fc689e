#!/usr/bin/env python3
"""The demo, the totals, the bench and the corpus on a GPU, within a time limit.

Started by scripts/gpu-check.sh. The order is that of worth: what does not fit into the time is left
out, and the summary says so.
"""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "corpus"))
from harness import ROOT, SKIP, arguments, setup_from, tail, test_main  # noqa: E402

TOTALS = ["totals/empty_cache", "totals/threads_and_streams", "totals/two_devices", "seed_lists"]
FIRST = (
    """seed_lists seed_lists_fixed seed_running_loss seed_running_loss_nobackward seed_retain_graph
    loss_sum_new_tensor leak_under_noise adam_state adam_late variable_length epoch_metric kv_cache
    previous_step_alive grad_accumulation""".split()
)

WHAT_IS_HERE = """
import json, platform, torch
devices = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda,
                  "python": platform.python_version(), "system": platform.platform(),
                  "devices": [{"name": d.name, "memory": d.total_memory} for d in devices]}))
"""


class Check:
    """Runs items until the time is up, and keeps how each went; for several threads."""

    def __init__(self, setup, folder: Path, seconds: float):
        self.setup, self.folder = setup, folder
        self.start, self.end = time.monotonic(), time.monotonic() + seconds
        self.items, self.facts = [], {}

    def left(self) -> float:
        return self.end - time.monotonic()

    def note(self, name: str, result: str, seconds: float, text: str) -> None:
        self.items.append(
            {"name": name, "result": result, "seconds": round(seconds, 1), "text": text}
        )
        line = text.strip().splitlines()[0] if text.strip() else ""
        if result == "no time":
            return
        print(f"{result:8} {name:32} {seconds:5.1f} s  {line[:70]}", flush=True)

    def command(self, name: str, command: list, at_most: float = 60, good=(0,), **how):
        """Runs one command; None, and a note, when there is no time for it or it ends badly."""
        limit = min(at_most, self.left())
        if limit < 3:
            self.note(name, "no time", 0, "")
            return None
        began = time.monotonic()
        try:
            done = subprocess.run(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=limit,
                **how,
            )
        except subprocess.TimeoutExpired:
            result = "FAIL" if limit == at_most else "no time"
            self.note(name, result, limit, f"no end within {limit:.0f} s")
            return None
        seconds = time.monotonic() - began
        if done.returncode == SKIP:
            self.note(name, "skipped", seconds, done.stdout)
            return None
        if done.returncode not in good:
            text = f"exit {done.returncode}\n{tail(done.stdout + done.stderr, 60)}"
            self.note(name, "FAIL", seconds, text)
            return None
        done.seconds = seconds
        return done

    def passes(self, name: str, command: list, **how) -> None:
        done = self.command(name, command, **how)
        if done:
            self.note(name, "ok", done.seconds, done.stdout)


def look_around(check: Check) -> None:
    plain = check.setup.run_command(["-c", WHAT_IS_HERE], trace=False)
    done = check.command("what is here", plain)
    if done:
        check.facts = json.loads(done.stdout)
        check.note("what is here", "ok", done.seconds, json.dumps(check.facts))
        version = tuple(map(int, re.findall(r"\d+", check.facts["torch"])[:2]))
        if version < (2, 11):
            check.note("PyTorch 2.11 or newer", "FAIL", 0, f"this is {check.facts['torch']}")
    looks = [check.setup.gpuleak, "check", check.setup.python]
    done = check.command("gpuleak check", looks, good=range(0, 4))
    if done:
        check.note("gpuleak check", "ok", done.seconds, done.stdout)


def run_demo(check: Check) -> None:
    trace = check.folder / "demo.bin"
    command = check.setup.run_command([ROOT / "docs/examples/train.py"])
    environment = {**os.environ, "GPULEAK_OUT": str(trace)}
    done = check.command("demo", command, good=(101,), env=environment, cwd=check.folder)
    if done:
        check.note("demo", "ok", done.seconds, "a leak, as it should be")
        (check.folder / "demo.txt").write_text(done.stdout + done.stderr)
        report, _ = check.setup.read(trace)
        (check.folder / "demo.json").write_text(json.dumps(report, indent=1))
    for left in check.folder.glob("demo.bin*"):
        left.unlink()


def script(check: Check, name: str, program: str) -> list:
    options = ["--build", check.setup.build, "--python", check.setup.python]
    if not check.setup.simulated:
        options.append("--gpu")
    corpus = ROOT / "tests/corpus"
    return [sys.executable, corpus / f"{name}.py", *options, corpus / f"{program}.py"]


def run_totals(check: Check) -> None:
    for program in TOTALS:
        enough = check.setup.simulated or len(check.facts.get("devices", [])) > 1
        if program == "totals/two_devices" and not enough:
            check.note(program, "skipped", 0, "one device")
            continue
        check.passes(f"totals {Path(program).name}", script(check, "totals", program))


def run_bench(check: Check) -> None:
    bench = ROOT / "tests/bench/hook_cost.py"
    if not bench.exists():
        check.note("bench", "skipped", 0, "there is none")
        return
    done = check.command(
        "bench", check.setup.bench_command(bench, check.folder / "bench.json"), at_most=90
    )
    if done:
        (check.folder / "bench.txt").write_text(done.stdout)
        check.note("bench", "ok", done.seconds, done.stdout)


def corpus_programs() -> list:
    """Beside them lie the scripts that run them."""
    files = sorted((ROOT / "tests/corpus").glob("*.py"))
    return [path.stem for path in files if re.search("^# expect:", path.read_text(), re.M)]


def run_corpus(check: Check) -> None:
    rest = [name for name in corpus_programs() if name not in FIRST]
    with ThreadPoolExecutor(max(2, min(6, (os.cpu_count() or 2) // 2))) as pool:
        for program in FIRST + rest:
            command = script(check, "run", program)
            pool.submit(check.passes, f"corpus {program}", command, at_most=60)


def write_summary(check: Check) -> int:
    count = {}
    for item in check.items:
        count[item["result"]] = count.get(item["result"], 0) + 1
    summary = {
        "simulated": check.setup.simulated,
        "seconds": round(time.monotonic() - check.start, 1),
        "here": check.facts,
        "count": count,
        "items": check.items,
    }
    (check.folder / "summary.json").write_text(json.dumps(summary, indent=1))
    where = "on the simulated GPU, not on a real one" if check.setup.simulated else "on a GPU"
    with open(check.folder / "summary.txt", "w", encoding="utf-8") as out:
        print(where, file=out)
        for item in check.items:
            print(f"{item['result']:8} {item['name']:32} {item['seconds']:5.1f} s", file=out)
            print(tail(item["text"], 60), file=out)
    late = [item["name"] for item in check.items if item["result"] == "no time"]
    if late:
        print(f"no time for: {', '.join(late)}")
    print(", ".join(f"{number} {result}" for result, number in count.items()))
    print(f"{where}: {summary['seconds']} s; figures in {check.folder}")
    # Without the demo and the first programs the rest proves too little.
    short = "demo" in late or any(f"corpus {name}" in late for name in FIRST)
    return 1 if count.get("FAIL") or short else 0


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=280)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    check = Check(setup_from(options), options.folder.resolve(), options.seconds)
    for part in (look_around, run_demo, run_totals, run_bench, run_corpus):
        part(check)
    sys.exit(write_summary(check))


if __name__ == "__main__":
    test_main(main)
