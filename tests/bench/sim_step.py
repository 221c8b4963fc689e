"""What a training step costs on the simulated GPU, beside PyTorch's CPU and `meta` devices.

    gpuleak run --sim --no-trace -- python tests/bench/sim_step.py [--json FILE] [--quick]

The tensors are so small that there is next to nothing to calculate: what remains is PyTorch's own
work on the host, which is what a simulated step should cost. A meta tensor has no data at all, but
many of its operations are written in Python, so it is slower than either. The devices take turns in
one process, with the optimizer that loops over the parameters, since the one that CUDA gets by
default makes fewer calls.
"""
import argparse
import json
import sys
import time

import torch
from torch import nn

DEVICES = ("meta", "cpu", "cuda")


def mlp(device):
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    return net.to(device), torch.empty(4, 8, device=device)


def convnet(device):
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3),
                        nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 8))
    return net.to(device), torch.empty(2, 3, 8, 8, device=device)


def encoder(device):
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True)
    net = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    return net.to(device), torch.empty(2, 4, 8, device=device)


def step_of(make, device):
    net, data = make(device)
    optimizer = torch.optim.AdamW(net.parameters(), foreach=False)

    def step():
        start = time.perf_counter_ns()
        optimizer.zero_grad()
        net(data).sum().backward()
        optimizer.step()
        return (time.perf_counter_ns() - start) / 1000

    for _ in range(10):
        step()
    return step


def compare(make, rounds):
    """The best step in µs on each device, which a busy machine disturbs least."""
    steps = {device: step_of(make, device) for device in DEVICES}
    samples = {device: [] for device in DEVICES}
    for number in range(rounds):
        for device in DEVICES if number % 2 else reversed(DEVICES):
            samples[device].append(steps[device]())
    best = {f"{device}_us": min(samples[device]) for device in DEVICES}
    return dict(best, of_meta=best["cuda_us"] / best["meta_us"],
                of_cpu=best["cuda_us"] / best["cpu_us"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("sim_step.py: no simulated GPU; run it under `gpuleak run --sim --no-trace`")
    torch.set_num_threads(1)
    rounds = 10 if arguments.quick else 300
    results = {make.__name__: compare(make, rounds) for make in (mlp, convnet, encoder)}
    print("a training step, best of %d, PyTorch %s" % (rounds, torch.__version__))
    print("%-10s %12s %12s %12s %9s %9s" % ("", "meta", "cpu", "simulated", "of meta", "of cpu"))
    for name, row in results.items():
        print("%-10s %9.0f us %9.0f us %9.0f us %9.2f %9.2f" % (
            name, *(row[f"{device}_us"] for device in DEVICES), row["of_meta"], row["of_cpu"]))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "rounds": rounds, "steps": results}, file,
                      indent=1)


if __name__ == "__main__":
    main()
