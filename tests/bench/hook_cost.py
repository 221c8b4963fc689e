"""What the hook costs: an allocation and its free, from Python and on an autograd thread.

    gpuleak run [--sim] -- python tests/bench/hook_cost.py [--json FILE] [--quick]

All variants alternate within one process, since two processes differ by more
(address layout) than the hook costs.  "paused" is the tracer as a mere pass-through;
a second, equal variant beside it shows how much of a difference is noise.  What a training
step costs more is step_cost.py's.
"""
import argparse
import ctypes
import json
import statistics
import sys
import time

import torch

PAIRS = 2000  # allocations and frees a round
CHAIN = 200  # operations of a backward pass
process = ctypes.CDLL(None)


def paused():
    process.gpuleak_pause()


def recording():
    process.gpuleak_resume()


def torch_recorder(stacks):
    process.gpuleak_pause()
    torch.cuda.memory._record_memory_history(
        enabled="all", context="all", stacks=stacks, max_entries=100_000
    )


def torch_recorder_off():
    torch.cuda.memory._record_memory_history(enabled=None)


VARIANTS = {
    "paused": (paused, recording),
    "paused again": (paused, recording),
    "gpuleak": (recording, recording),
    "torch's recorder": (lambda: torch_recorder("python"), torch_recorder_off),
}
NATIVE_VARIANTS = {**VARIANTS, "torch's recorder": (lambda: torch_recorder("all"), torch_recorder_off)}


def allocate(pairs):
    empty = torch.empty
    start = time.perf_counter_ns()
    for _ in range(pairs):
        empty(100, device="cuda")
    return (time.perf_counter_ns() - start) / pairs


def at_depth(depth, function, *arguments):
    """Call it with `depth` Python frames on the stack below it, its own included."""
    if depth <= 1:
        return function(*arguments)
    return at_depth(depth - 1, function, *arguments)


def alternate(measure, rounds, variants):
    """Samples of each variant, taken in turn; the order is turned round each time."""
    samples = {name: [] for name in variants}
    for round_number in range(rounds):
        names = list(variants)
        for name in names if round_number % 2 else reversed(names):
            before, after = variants[name]
            before()
            measure()  # warm
            samples[name].append(measure())
            after()
    return samples


def own_depth():
    depth = 0
    frame = sys._getframe()
    while frame:
        depth += 1
        frame = frame.f_back
    return depth


def summary(samples):
    return {
        name: {"best": min(values), "median": statistics.median(values)}
        for name, values in samples.items()
    }


def bench_pairs(rounds):
    """ns a pair by depth and variant: the best round, and the median."""
    result = {}
    for depth in (1, 20, 60):
        extra = max(depth - 5, 1)  # the frames of this program count too
        samples = alternate(
            lambda extra=extra: at_depth(extra, allocate, PAIRS), rounds, VARIANTS
        )
        result[depth] = summary(samples)
    return result


def train_once():
    """Of a training's clock: without an optimizer each turn of a loop would be a step."""
    net = torch.nn.Linear(8, 8).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(3):
        net(torch.randn(8, 8, device="cuda")).sum().backward()
        optimizer.step()


def allocations():
    return torch.cuda.memory_stats()["allocation.all.allocated"]


def backward():
    """A backward pass whose blocks all come and go on an autograd thread, and how many they are."""
    start = torch.randn(100, device="cuda", requires_grad=True)
    end = start
    for _ in range(CHAIN):
        end = end.sin()
    seed = torch.ones_like(end)

    def run():
        torch.autograd.grad(end, start, seed, retain_graph=True)

    run()
    before = allocations()
    run()
    return run, allocations() - before


def bench_native(rounds):
    """ns a pair on an autograd thread, by variant."""
    run, pairs = backward()

    def measure():
        begin = time.perf_counter_ns()
        run()
        return (time.perf_counter_ns() - begin) / pairs

    return summary(alternate(measure, rounds, NATIVE_VARIANTS))


def added(row, name):
    return row[name]["best"] - row["paused"]["best"]


def share(row):
    """How much of what torch's recorder adds; None where ours can't be told from noise."""
    ours = added(row, "gpuleak")
    noise = abs(added(row, "paused again"))
    return added(row, "torch's recorder") / ours if ours > noise else None


def print_pairs(pairs, native):
    rows = {**{"%d frames" % depth: row for depth, row in pairs.items()}, "native": native}
    print("an allocation and its free, ns (best round; added to the paused tracer)")
    print("%-18s" % "Python frames", *("%16s" % title for title in rows))
    for name in VARIANTS:
        cells = ("%7.0f (%+6.0f)" % (row[name]["best"], added(row, name)) for row in rows.values())
        print("%-18s" % name, *("%16s" % cell for cell in cells))
    for title, row in rows.items():
        stacks, goal = ("all", 5) if row is native else ("python", 12)
        part = "1/%.1f" % share(row) if share(row) else "less than the noise; a small part"
        print(
            '%s: %s of what torch\'s recorder adds with stacks="%s" (goal 1/%d)'
            % (title, part, stacks, goal)
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all")
    arguments = parser.parse_args()
    if not hasattr(process, "gpuleak_pause"):
        sys.exit("hook_cost.py: the tracer is not loaded; run it under `gpuleak run`")
    train_once()
    pairs = bench_pairs(3 if arguments.quick else 41)
    native = bench_native(3 if arguments.quick else 101)
    print_pairs(pairs, native)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(
                {"torch": torch.__version__, "pairs_ns": pairs, "native_ns": native},
                file,
                indent=1,
            )


if __name__ == "__main__":
    main()
