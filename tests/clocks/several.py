"""What a step is on two devices where no optimizer steps: one device's turns of the loop are."""

import threading

import torch
from torch import nn

import rows
from rows import row

FIRST, SECOND = torch.device("cuda:0"), torch.device("cuda:1")


def network(device, inputs=8, outputs=8):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs)).to(device)


def batch():
    return torch.randn(4, 8)


class Pipeline(nn.Module):
    """Its halves are on a device each."""

    def __init__(self, first=FIRST, second=SECOND):
        super().__init__()
        self.head, self.tail = network(first), network(second)
        self.second = second

    def forward(self, x):
        return self.tail(self.head(x).to(self.second))


@row(steps=100, clock="loop", device="STABLE", second="STABLE")
@torch.no_grad()
def pipeline():
    net = Pipeline()
    for _ in range(100):
        net(batch().to(FIRST)).argmax(1)


@row(steps=100, clock="loop", device="STABLE", second="LEAK")
@torch.no_grad()
def pipeline_that_keeps_outputs():
    net, outputs = Pipeline(), []
    for _ in range(100):
        outputs.append(net(batch().to(FIRST)))


@row(steps=100, clock="loop", device="LEAK", second="STABLE")
@torch.no_grad()
def pipeline_from_second_to_first():
    net, outputs = Pipeline(SECOND, FIRST), []
    for _ in range(100):
        outputs.append(net(batch().to(SECOND)))


@row(steps=100, clock="module", device="STABLE", second="STABLE")
@torch.no_grad()
def pipeline_of_one_input():
    """Nothing is allocated outside of modules, on neither device."""
    net, x = Pipeline(), batch().to(FIRST)
    for _ in range(100):
        net(x)


@row(steps=100, clock="module", device="STABLE", second="STABLE")
@torch.no_grad()
def recurrent_on_the_second():
    """A cell on the second device is called ten times in each turn."""

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.cell = network(FIRST), nn.GRUCell(8, 8, device=SECOND)

        def forward(self, x):
            x, state = self.head(x).to(SECOND), None
            for _ in range(10):
                state = self.cell(x, state)
            return state

    net, x = Recurrent(), batch().to(FIRST)
    for _ in range(100):
        net(x)


@row(steps=100, clock="loop", device="STABLE", second="LEAK")
@torch.no_grad()
def one_copy_for_each():
    """One line of the loop copies to both devices, in each turn."""
    nets, outputs = [network(FIRST), network(SECOND)], []
    for _ in range(100):
        x = batch()
        results = [net(x.to(device)) for net, device in zip(nets, (FIRST, SECOND))]
        outputs.append(results[1])


@row(steps=100, clock="loop", device="STABLE", second="LEAK")
@torch.no_grad()
def devices_in_turn():
    """Batches go to the two devices in turn: two are a step."""
    nets, outputs = [network(FIRST), network(SECOND)], []
    for turn in range(200):
        device = (FIRST, SECOND)[turn % 2]
        y = nets[turn % 2](batch().to(device))
        if device == SECOND:
            outputs.append(y)


@row(steps=200, clock="loop", device="STABLE", second="LEAK")
@torch.no_grad()
def one_device_after_the_other():
    """The count goes on with the second one's."""
    nets, outputs = [network(FIRST), network(SECOND)], []
    for _ in range(100):
        nets[0](batch().to(FIRST)).argmax(1)
    for _ in range(100):
        outputs.append(nets[1](batch().to(SECOND)))


@row(steps=104, clock="loop", device="JUMP", second="LEAK")
@torch.no_grad()
def first_device_at_the_start():
    """Four weights are made on the first device, each with something that is freed; all that follows is
    on the second."""
    nets, outputs = network(SECOND), []
    weights = [torch.randn(64, 64).to(FIRST).abs() for _ in range(4)]
    for _ in range(100):
        outputs.append(nets(batch().to(SECOND)))
    assert len(weights) == 4


def on_threads(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def serve(device, turns, kept=None, barrier=None):
    """A loop of a thread of its own."""

    def loop():
        net = network(device)
        with torch.no_grad():
            for _ in range(turns):
                if barrier:
                    barrier.wait()
                y = net(batch().to(device))
                if kept is not None:
                    kept.append(y)

    return loop


@row(steps=100, clock="loop", device="STABLE", second="LEAK")
def threads_in_step():
    barrier = threading.Barrier(2)
    on_threads(serve(FIRST, 100, None, barrier), serve(SECOND, 100, [], barrier))


@row(steps=None, clock="loop", device=["STABLE", "NOISY", "SAWTOOTH"], second=["LEAK", "GROWING"])
def threads_apart():
    """Each at its own pace: steps are turns of one or the other."""
    on_threads(serve(FIRST, 300), serve(SECOND, 500, []))


@row(steps=100, clock="loop", device="LEAK", second="STABLE")
@torch.no_grad()
def data_parallel():
    """Each device's share of a batch is worked on by a thread of its own."""
    net = nn.DataParallel(network(FIRST), [0, 1])
    outputs = []
    for _ in range(100):
        outputs.append(net(batch().to(FIRST)))


rows.main()
