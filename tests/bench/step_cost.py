"""What a training step costs more under the tracer.

    gpuleak run [--sim] -- python tests/bench/step_cost.py [--json FILE] [--quick] [MODEL ...]

Recording and passing through (gpuleak_pause) take turns within one process, a few steps each, with a
second passing through beside it: what that differs by is noise.  Time is the process's CPU time on
all threads, which other processes disturb least; kernels cost nothing on the simulated GPU, so a
step is PyTorch's own work on the host, the worst case there is.
"""
import argparse
import ctypes
import json
import statistics
import sys
import time

import torch

GOAL_PERCENT = 2.0
TURN = 8  # steps of one variant in a row; the first two only warm its caches up
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
    """CPU ns of a step: the median of a turn."""
    (process.gpuleak_resume if record else process.gpuleak_pause)()
    step()
    step()
    times = []
    for _ in range(TURN - 2):
        start = time.process_time_ns()
        step()
        times.append(time.process_time_ns() - start)
    process.gpuleak_resume()
    return statistics.median(times)


def compare(step, rounds):
    """Turns of each variant, in an order that is turned round each time."""
    variants = {"paused": False, "paused again": False, "gpuleak": True}
    samples = {name: [] for name in variants}
    for number in range(rounds):
        for name in list(variants)[:: 1 if number % 2 else -1]:
            samples[name].append(turn(step, variants[name]))
    base = samples["paused"]
    return {
        name: {
            "median_us": statistics.median(values) / 1000,
            "slower_percent": 100 * statistics.median((v - b) / b for v, b in zip(values, base)),
        }
        for name, values in samples.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all")
    parser.add_argument("--rounds", type=int, default=60, help="turns of each variant (60)")
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
        result[name] = compare(step, 3 if arguments.quick else arguments.rounds)
        for variant, value in result[name].items():
            print(
                "%-10s %-14s %9.1f us  %+.2f %%"
                % (name, variant, value["median_us"], value["slower_percent"]),
                flush=True,
            )
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "steps": result}, file, indent=1)


if __name__ == "__main__":
    main()
