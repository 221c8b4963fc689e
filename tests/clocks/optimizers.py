"""What a step is where optimizers are the clock."""

import ctypes

import torch
from torch import nn

import rows
from rows import row

SGD, Adam = torch.optim.SGD, torch.optim.Adam


def network(width=16):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 8)).cuda()


def data():
    return torch.randn(4, 8, device="cuda")


def loss_of(net):
    return net(data()).pow(2).mean()


def fit(net, opt, steps):
    for _ in range(steps):
        opt.zero_grad()
        loss_of(net).backward()
        opt.step()


@row(steps=30)
def one_optimizer():
    net = network()
    fit(net, Adam(net.parameters()), 30)


@row(steps=30)
def two_that_alternate():
    """Each turn of the loop steps both."""
    first, second = network(), network()
    opts = [SGD(first.parameters(), lr=0.1), Adam(second.parameters())]
    for _ in range(30):
        fit(first, opts[0], 1)
        fit(second, opts[1], 1)


@row(steps=40)
def second_that_joins_late():
    """From turn 20 on both step."""
    first, second = network(), network()
    opts = [SGD(first.parameters(), lr=0.1), Adam(second.parameters())]
    for turn in range(40):
        fit(first, opts[0], 1)
        if turn >= 20:
            fit(second, opts[1], 1)


@row(steps=60)
def gan_with_five_critic_steps():
    """A step of the critic each batch, of the generator each fifth."""
    critic, generator = network(), network()
    for_critic, for_generator = Adam(critic.parameters()), Adam(generator.parameters())
    for batch in range(60):
        fit(critic, for_critic, 1)
        if batch % 5 == 4:
            fit(generator, for_generator, 1)


@row(steps=60)
def gan_with_a_loop_of_critic_steps():
    """Twelve turns of five critic steps and one of the generator: the calls come in the same order."""
    critic, generator = network(), network()
    for_critic, for_generator = Adam(critic.parameters()), Adam(generator.parameters())
    for turn in range(12):
        fit(critic, for_critic, 5)
        fit(generator, for_generator, 1)


@row(steps=30)
def inner_optimizer_in_each_turn():
    """As meta-learning does: a new optimizer takes a step within each of another's."""
    net = network()
    outer = Adam(net.parameters())
    for turn in range(30):
        inner = network()
        fit(inner, SGD(inner.parameters(), lr=0.1), 1)
        fit(net, outer, 1)


@row(steps=60)
def new_optimizer_per_trial():
    for trial in range(6):
        net = network()
        fit(net, Adam(net.parameters(), lr=10**-trial), 10)


@row(steps=60)
def new_optimizer_per_trial_kept():
    """All trials stay alive, so that no address is used again; three steps each."""
    kept = []
    for trial in range(20):
        net = network()
        kept.append((net, SGD(net.parameters(), lr=0.1)))
        fit(*kept[-1], 3)


@row(steps=57, device="LEAK")
def trials_of_one_step():
    """Each network is kept.  Of the first four trials one counts: they might be one turn."""
    kept = []
    for trial in range(60):
        kept.append(network())
        fit(kept[-1], SGD(kept[-1].parameters(), lr=0.1), 1)


@row(steps=57)
def adapted_to_each_sample():
    """A new optimizer for a step on each sample, as test-time adaptation does."""
    net, weights = network(), None
    for sample in range(60):
        weights = weights or net.state_dict()
        net.load_state_dict(weights)
        fit(net, SGD(net.parameters(), lr=0.1), 1)


@row(steps=60)
def new_pair_of_optimizers_per_trial():
    kept = []
    for trial in range(6):
        pair = network(), network()
        opts = [Adam(net.parameters()) for net in pair]
        kept.append(opts)
        for _ in range(10):
            fit(pair[0], opts[0], 1)
            fit(pair[1], opts[1], 1)


@row(steps=40)
def new_optimizer_on_the_same_model():
    """Adam for a while, then SGD, as some recipes do."""
    net = network()
    fit(net, Adam(net.parameters()), 20)
    fit(net, SGD(net.parameters(), lr=0.1), 20)


@row(steps=30)
def optimizer_per_parameter_in_backward():
    net = network()
    opts = {p: SGD([p], lr=0.1) for p in net.parameters()}

    def update(parameter):
        opts[parameter].step()
        opts[parameter].zero_grad()

    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(update)
    for _ in range(30):
        loss_of(net).backward()


@row(steps=30)
def parameter_groups():
    net = network()
    groups = [{"params": [p], "lr": 0.1} for p in net.parameters()]
    fit(net, SGD(groups), 30)


@row(steps=30)
def one_group_after_the_other():
    """As DeepSpeed's ZeRO does: one optimizer is stepped once for each of its groups."""
    net = network()
    opt = Adam([{"params": [p]} for p in net.parameters()])
    for _ in range(30):
        opt.zero_grad()
        loss_of(net).backward()
        groups = opt.param_groups
        for group in groups:
            opt.param_groups = [group]
            opt.step()
        opt.param_groups = groups


@row(steps=30)
def state_loaded_on_the_way():
    """load_state_dict() makes new groups of the same parameters."""
    net = network()
    opt = Adam(net.parameters())
    fit(net, opt, 15)
    opt.load_state_dict(opt.state_dict())
    fit(net, opt, 15)


@row(steps=30)
def optimizer_within_another():
    """As SAM does: an optimizer whose step() calls another's."""
    net = network()

    class Around(torch.optim.Optimizer):
        def __init__(self, base):
            self.base = base
            super().__init__(base.param_groups, {})

        def step(self, closure=None):
            self.base.step()

    fit(net, Around(SGD(net.parameters(), lr=0.1)), 30)


@row(steps=30)
def closure():
    """LBFGS calls the closure, with its backward pass, several times within step()."""
    net = network()
    opt = torch.optim.LBFGS(net.parameters(), max_iter=4)

    def evaluate():
        opt.zero_grad()
        loss = loss_of(net)
        loss.backward()
        return loss

    for _ in range(30):
        opt.step(evaluate)


@row(steps=25)
def gradient_accumulation():
    """Four backward passes make one step."""
    net = network()
    opt = Adam(net.parameters())
    for turn in range(100):
        loss_of(net).backward()
        if turn % 4 == 3:
            opt.step()
            opt.zero_grad()


@row(steps=30)
def skipped_steps():
    """A scaler that skips the first ten: these turns are no steps."""
    net = network()
    opt = Adam(net.parameters())
    for turn in range(40):
        opt.zero_grad()
        loss_of(net).backward()
        if turn >= 10:
            opt.step()


@row(steps=30, clock="explicit")
def manual_marks():
    """gpuleak_step() once in two optimizer steps: it alone is the clock."""
    step = ctypes.CDLL(None).gpuleak_step
    net = network()
    opt = Adam(net.parameters())
    for _ in range(30):
        fit(net, opt, 2)
        step()


@row(steps=57, clock="explicit")
def manual_marks_late():
    """After 27 steps of the optimizer: what they showed isn't thrown away."""
    net = network()
    opt = Adam(net.parameters())
    fit(net, opt, 25)
    for _ in range(30):
        fit(net, opt, 2)
        ctypes.CDLL(None).gpuleak_step()


@row(steps=33)
def replayed_graph():
    """Three steps as usual, one captured, which does nothing, then thirty replays of that."""
    net = network()
    opt = Adam(net.parameters(), capturable=True)
    static = data()

    def turn():
        opt.zero_grad(set_to_none=True)
        net(static).pow(2).mean().backward()
        opt.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            turn()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        turn()
    for _ in range(30):
        graph.replay()


@row(steps=40)
def replayed_graph_without_optimizer():
    """Forward and backward replayed, the optimizer beside it: its steps alone count."""
    net = network()
    opt = SGD(net.parameters(), lr=0.1)
    fit(net, opt, 10)
    static = data()
    opt.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net(static).pow(2).mean().backward()
    for _ in range(30):
        graph.replay()
        opt.step()


@row(steps=30)
def inference_before_training():
    """Ten turns of a loop that allocates, then training: the optimizer alone is the clock."""
    net = network()
    with torch.no_grad():
        for _ in range(10):
            net(data())
    fit(net, Adam(net.parameters()), 30)


@row(steps=30)
def evaluation_after_training():
    net = network()
    fit(net, Adam(net.parameters()), 30)
    with torch.no_grad():
        for _ in range(200):
            net(data())


@row(steps=30, kept_after=201)
def evaluation_that_keeps_outputs():
    """No step ends in it, so nothing is judged; what piles up is told all the same: the outputs,
    and for a moment what the first layer made, which has the same stack."""
    net, outputs = network(), []
    fit(net, Adam(net.parameters()), 30)
    with torch.no_grad():
        for _ in range(200):
            outputs.append(net(torch.randn(4096, 8, device="cuda")))


rows.main()
