"""What a training step costs more under the tracer.

    gpuleak run [--sim] -- python tests/bench/step_cost.py [--json FILE] [--quick] [MODEL ...]

Recording and passing through (gpuleak_pause) take turns within one process, two steps each, with a
second passing through beside it: what that differs by is noise.  A round is a turn of each, in any
order; of the rounds' differences the middle half is averaged, and the range is what 95 of 100 such
averages lie in when the rounds are drawn again.  Time is the process's CPU time on all threads,
which other processes disturb least; kernels cost nothing on the simulated GPU, so a step is
PyTorch's own work on the host, the worst case there is.
"""
import argparse
import ctypes
import json
import random
import statistics
import sys
import time

import torch

GOAL_PERCENT = 2.0
TURN = 3  # steps of one variant in a row; the first one isn't measured: it frees the last one's
DRAWS = 400
process = ctypes.CDLL(None)


def mlp():
    net = torch.nn.Sequential(
        torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)
    )
    return net, torch.randn(32, 256, device="cuda")


def encoder():
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 6), torch.randn(8, 32, 64, device="cuda")


def resnet18():
    from torchvision.models import resnet18 as make

    return make(num_classes=10), torch.randn(8, 3, 64, 64, device="cuda")


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=4, n_head=4, n_embd=128, vocab_size=1000, n_positions=128)
    tokens = torch.zeros(4, 64, dtype=torch.long, device="cuda")
    return GPT2LMHeadModel(config), tokens


MODELS = {f.__name__: f for f in (mlp, encoder, resnet18, gpt2)}


def step_of(make):
    net, inputs = make()
    net.cuda()
    optimizer = torch.optim.AdamW(net.parameters())

    def step():
        output = net(inputs)
        loss = (output.logits if hasattr(output, "logits") else output).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(30):
        step()
    return step


def turn(step, record):
    """CPU ns of a step: the mean of a turn."""
    (process.gpuleak_resume if record else process.gpuleak_pause)()
    step()
    start = time.process_time_ns()
    for _ in range(TURN - 1):
        step()
    taken = time.process_time_ns() - start
    process.gpuleak_resume()
    return taken / (TURN - 1)


def middle(values):
    """The mean of the middle half: single steps take twice as long now and then."""
    values = sorted(values)
    quarter = len(values) // 4
    return statistics.mean(values[quarter : len(values) - quarter])


def spread(values):
    """From where to where the middle is to be expected."""
    draw = random.Random(0)
    middles = sorted(middle(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    return middles[DRAWS // 40], middles[-DRAWS // 40 - 1]


def rounds_of(step, seconds):
    variants = {"paused": False, "paused again": False, "gpuleak": True}
    samples = {name: [] for name in variants}
    order = list(variants)
    shuffle = random.Random(0).shuffle
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(samples["gpuleak"]) < 4:
        shuffle(order)
        for name in order:
            samples[name].append(turn(step, variants[name]))
    return samples


def compare(step, seconds):
    samples = rounds_of(step, seconds)
    paused = [(a + b) / 2 for a, b in zip(samples["paused"], samples["paused again"])]
    base = {"paused": paused, "paused again": samples["paused"], "gpuleak": paused}
    result = {}
    for name, values in samples.items():
        percents = [100 * (v - b) / b for v, b in zip(values, base[name])]
        low, high = spread(percents)
        result[name] = {
            "middle_us": middle(values) / 1000,
            "slower_percent": middle(percents),
            "from_percent": low,
            "to_percent": high,
            "rounds": len(values),
        }
    del result["paused"]["slower_percent"], result["paused"]["from_percent"]
    del result["paused"]["to_percent"]
    return result


def print_row(name, variant, value):
    print("%-10s %-13s %9.1f us" % (name, variant, value["middle_us"]), end="")
    if "slower_percent" in value:
        numbers = (value["slower_percent"], value["from_percent"], value["to_percent"])
        print("  %+.2f %%  (%+.2f to %+.2f)" % numbers, end="")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all")
    parser.add_argument("--seconds", type=float, default=40, help="for each model (40)")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    arguments = parser.parse_args()
    if not hasattr(process, "gpuleak_pause"):
        sys.exit("step_cost.py: the tracer is not loaded; run it under `gpuleak run`")
    result = {}
    print("a training step's CPU time (slower than paused; goal +%.0f %%)" % GOAL_PERCENT)
    for name in arguments.models or MODELS:
        try:
            step = step_of(MODELS[name])
        except ImportError as missing:
            print("%-10s skipped: %s" % (name, missing))
            continue
        result[name] = compare(step, 0 if arguments.quick else arguments.seconds)
        for variant, value in result[name].items():
            print_row(name, variant, value)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "steps": result}, file, indent=1)


if __name__ == "__main__":
    main()
