"""What the hook costs: an allocation and its free, and a training step.

    gpuleak run [--sim] -- python tests/bench/hook_cost.py [--json FILE] [--quick]

All variants alternate within one process, since two processes differ by more
(address layout) than the hook costs.  "paused" is the tracer as a mere pass-through;
a second, equal variant beside it shows how much of a difference is noise.
"""
import argparse
import ctypes
import json
import statistics
import sys
import time

import torch

PAIRS = 2000  # allocations and frees a round
process = ctypes.CDLL(None)


def paused():
    process.gpuleak_pause()


def recording():
    process.gpuleak_resume()


def torch_recorder():
    process.gpuleak_pause()
    torch.cuda.memory._record_memory_history(
        enabled="all", context="all", stacks="python", max_entries=100_000
    )


def torch_recorder_off():
    torch.cuda.memory._record_memory_history(enabled=None)


VARIANTS = {
    "paused": (paused, recording),
    "paused again": (paused, recording),
    "gpuleak": (recording, recording),
    "torch's recorder": (torch_recorder, torch_recorder_off),
}


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
            before, after = VARIANTS[name]
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


def bench_pairs(rounds):
    """ns a pair by depth and variant: the best round, and the median."""
    result = {}
    for depth in (1, 20, 60):
        extra = max(depth - 5, 1)  # the frames of this program count too
        samples = alternate(
            lambda extra=extra: at_depth(extra, allocate, PAIRS), rounds, VARIANTS
        )
        result[depth] = {
            name: {"best": min(values), "median": statistics.median(values)}
            for name, values in samples.items()
        }
    return result


def mlp():
    net = torch.nn.Sequential(
        torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)
    ).cuda()
    return net, torch.randn(32, 256, device="cuda")


def encoder():
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2).cuda(), torch.randn(8, 32, 64, device="cuda")


def step_of(make):
    net, inputs = make()
    optimizer = torch.optim.AdamW(net.parameters())

    def step():
        start = time.perf_counter_ns()
        loss = net(inputs).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return time.perf_counter_ns() - start

    for _ in range(30):
        step()
    return step


def bench_steps(rounds):
    """Median step in µs, and the median of the paired differences in percent."""
    result = {}
    variants = ("paused", "paused again", "gpuleak")
    for make in (mlp, encoder):
        samples = alternate(step_of(make), rounds, variants)
        base = samples["paused"]
        result[make.__name__] = {
            name: {
                "median_us": statistics.median(values) / 1000,
                "slower_percent": 100
                * statistics.median((v - b) / b for v, b in zip(values, base)),
            }
            for name, values in samples.items()
        }
    return result


def print_pairs(result):
    print("an allocation and its free, ns (best round; added to the paused tracer)")
    print("%-18s" % "Python frames", *("%16d" % depth for depth in result))
    for name in VARIANTS:
        cells = []
        for depth in result:
            value = result[depth][name]["best"]
            cells.append("%7.0f (%+6.0f)" % (value, value - result[depth]["paused"]["best"]))
        print("%-18s" % name, *("%16s" % cell for cell in cells))
    for depth in result:
        base = result[depth]["paused"]["best"]
        ours = result[depth]["gpuleak"]["best"] - base
        theirs = result[depth]["torch's recorder"]["best"] - base
        print("%d frames: 1/%.1f of what torch's recorder adds (goal 1/12)" % (depth, theirs / ours))


def print_steps(result):
    print("\na training step, median (median of paired differences)")
    for model, variants in result.items():
        for name, value in variants.items():
            print(
                "%-10s %-14s %9.1f us  %+.2f %%"
                % (model, name, value["median_us"], value["slower_percent"])
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all")
    arguments = parser.parse_args()
    if not hasattr(process, "gpuleak_pause"):
        sys.exit("hook_cost.py: the tracer is not loaded; run it under `gpuleak run`")
    step_of(mlp)  # a training's clock: without an optimizer each turn of a loop would be a step
    pairs = bench_pairs(3 if arguments.quick else 41)
    print_pairs(pairs)
    steps = bench_steps(10 if arguments.quick else 600)
    print_steps(steps)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "pairs_ns": pairs, "steps": steps}, file, indent=1)


if __name__ == "__main__":
    main()
