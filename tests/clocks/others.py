"""What a step is where no optimizer steps: backward passes, turns of the loop, calls of the module."""

import torch
import torch.utils.checkpoint
from torch import nn

import rows
from rows import row

LEAK = {"device": "LEAK"}


def network(layers=3):
    middle = [part for _ in range(layers) for part in (nn.Linear(16, 16), nn.ReLU())]
    return nn.Sequential(nn.Linear(8, 16), *middle, nn.Linear(16, 8)).cuda()


def data():
    return torch.randn(4, 8, device="cuda")


def update_by_hand(net):
    for parameter in net.parameters():
        parameter.data.add_(parameter.grad, alpha=-0.1)


@row(steps=40, clock="backward")
def parameters_updated_by_hand():
    """As PyTorch's word_language_model example does."""
    net = network()
    for _ in range(40):
        net.zero_grad()
        net(data()).pow(2).mean().backward()
        update_by_hand(net)


@row(steps=40, clock="backward", **LEAK)
def leak_without_optimizer():
    net, losses = network(), []
    for _ in range(40):
        net.zero_grad()
        loss = net(data()).pow(2).mean()
        loss.backward()
        update_by_hand(net)
        losses.append(loss)


@row(steps=40, clock="backward")
def evaluation_between_by_hand():
    """Four epochs of ten backward passes; the evaluation after each counts nothing."""
    net = network()
    for _ in range(4):
        for _ in range(10):
            net.zero_grad()
            net(data()).pow(2).mean().backward()
            update_by_hand(net)
        with torch.no_grad():
            for _ in range(30):
                net(data())


@row(steps=40, clock="backward")
def inference_before_backward():
    net = network()
    with torch.no_grad():
        for _ in range(25):
            net(data())
    for _ in range(40):
        net.zero_grad()
        net(data()).pow(2).mean().backward()
        update_by_hand(net)


@row(steps=40, clock="backward")
def checkpointing_by_hand():
    """Backward passes within a backward pass are none."""
    net = network()
    for _ in range(40):
        net.zero_grad()
        x = data().requires_grad_()
        y = torch.utils.checkpoint.checkpoint(net, x, use_reentrant=True)
        y.pow(2).mean().backward()
        update_by_hand(net)


@row(steps=40, clock="backward")
def gradients_of_gradients():
    """Two calls in each of twenty turns: grad() and backward()."""
    net = network()
    for _ in range(20):
        net.zero_grad()
        x = data().requires_grad_()
        loss = net(x).pow(2).mean()
        (slope,) = torch.autograd.grad(loss, x, create_graph=True)
        (loss + slope.pow(2).mean()).backward()
        update_by_hand(net)


@row(steps=20, clock="backward")
def failed_backward_by_hand():
    """A second backward pass through the same graph throws, and is caught: no step."""
    net = network()
    for _ in range(20):
        net.zero_grad()
        loss = net(data()).pow(2).mean()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError:
            pass
        else:
            raise AssertionError("it did not throw")
        update_by_hand(net)


def capture(turn):
    """A graph of turn(), which was done three times on another stream before, and its result."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            turn()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = turn()
    return graph, result


@row(steps=33, clock="backward", **LEAK)
def whole_step_replayed_by_hand():
    """Three steps as usual, one captured, thirty replays: no Python runs in these."""
    net, x, losses = network(), data(), []

    def turn():
        net.zero_grad(set_to_none=True)
        loss = net(x).pow(2).mean()
        loss.backward()
        update_by_hand(net)
        return loss

    graph, loss = capture(turn)
    for _ in range(30):
        x.copy_(torch.randn(4, 8))
        graph.replay()
        losses.append(loss.clone())


@row(steps=43, clock="backward")
def graphed_callables_by_hand():
    """Forward and backward are a graph each: the backward pass counts, its replay within doesn't.
    Three more make_graphed_callables() does to warm up."""
    net, x = network(), data()
    net = torch.cuda.make_graphed_callables(net, (x,))
    for _ in range(40):
        net.zero_grad()
        net(x).pow(2).mean().backward()
        update_by_hand(net)


@row(steps=103, clock="loop", **LEAK)
def inference_replayed():
    """Three calls to warm up, then a hundred replays; nothing is ever freed."""
    net, x, outputs = network(), data(), []
    with torch.no_grad():
        graph, y = capture(lambda: net(x))
        for _ in range(100):
            x.copy_(torch.randn(4, 8))
            graph.replay()
            outputs.append(y.clone())


@row(steps=103, clock="loop")
def inference_replayed_alone():
    """Nothing is even allocated."""
    net, x = network(), data()
    with torch.no_grad():
        graph, y = capture(lambda: net(x))
        for _ in range(100):
            graph.replay()


@row(steps=100, clock="loop")
def inference():
    """Each batch is copied to the GPU: a turn of the program's loop."""
    net = network()
    right = 0
    with torch.no_grad():
        for _ in range(100):
            x = torch.randn(4, 8).cuda()
            right += int(net(x).argmax(1).sum())


@row(steps=100, clock="loop", **LEAK)
def inference_that_keeps_outputs():
    net, outputs = network(), []
    with torch.no_grad():
        for _ in range(100):
            outputs.append(net(torch.randn(4, 8).cuda()))


@row(steps=100, clock="module")
def inference_of_one_input():
    """Nothing is allocated outside of the module: its calls are the turns."""
    net, x = network(), data()
    with torch.no_grad():
        for _ in range(100):
            net(x)


@row(steps=100, clock="module")
def inference_with_a_loop_of_layers():
    """The layers' own loop doesn't count."""

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(8, 16)
            self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(12))

        def forward(self, x):
            x = self.first(x).relu()
            for layer in self.layers:
                x = x + layer(x)
            return x

    net, x = Stack().cuda(), data()
    with torch.no_grad():
        for _ in range(100):
            net(x)


@row(steps=90, clock="loop")
def inference_in_three_epochs():
    """Something is allocated once an epoch as well: a step is a batch."""
    net = network()
    with torch.no_grad():
        for _ in range(3):
            sums = torch.zeros(8, device="cuda")
            for _ in range(30):
                sums += net(torch.randn(4, 8).cuda()).sum(0)


@row(steps=200, clock="loop")
def two_evaluations():
    """One function after the other: the count goes on."""
    net = network()

    def evaluate_first():
        for _ in range(100):
            net(torch.randn(4, 8).cuda())

    def evaluate_second():
        for _ in range(100):
            y = net(torch.randn(4, 8).cuda())
            y.argmax(1)

    with torch.no_grad():
        evaluate_first()
        evaluate_second()


@row(steps=60, clock="loop", **LEAK)
def loop_without_modules():
    kept = []
    for _ in range(60):
        kept.append(torch.randn(100, device="cuda") + 1)


@row(steps=0, clock=None)
def weights_loaded():
    """Nothing is freed in it: no loop of a program that computes."""
    weights = {}
    for layer in range(100):
        weights[layer] = torch.randn(64, 64).cuda()


@row(steps=100, clock="loop")
def many_parameters_before_the_loop():
    """Building a network of 200 layers is no loop of the program's."""
    net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(200)]).cuda()
    with torch.no_grad():
        for _ in range(100):
            net(torch.randn(4, 8).cuda())


@row(steps=0, clock=None)
def network_built_piece_by_piece():
    """Each layer is made with something in between that is freed: it looks like a leak and is none."""

    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            for layer in range(40):
                weight = torch.randn(16, 16, device="cuda") * 0.1
                self.register_parameter(f"layer{layer}", nn.Parameter(weight))

    Made()


@row(steps=100, clock="loop")
def one_backward_in_inference():
    """A single backward pass in the middle changes nothing."""
    net = network()
    for turn in range(100):
        x = torch.randn(4, 8).cuda()
        y = net(x).sum()
        if turn == 50:
            y.backward()


@row(steps=0, clock=None)
def too_little():
    network()(data())


rows.main()
