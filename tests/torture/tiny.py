"""A small training for the torture programs.

Each turn writes PyTorch's own totals to a file of the process, which the test compares with the
trace, mark by mark.
"""

import os

import torch
from torch import nn


def note() -> None:
    """To be called after each optimizer step: what PyTorch holds at this mark."""
    line = f"{torch.cuda.memory_allocated()} {torch.cuda.memory_reserved()}\n"
    path = os.path.join(os.environ["TORTURE_FACTS"], str(os.getpid()))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, line.encode())
    os.close(file)


for method in (torch.optim.Optimizer.add_param_group, torch.optim.Optimizer.zero_grad):
    # Else the first call imports PyTorch's compiler: seconds for each of these programs.
    function = getattr(method, "__wrapped__", method)
    setattr(function, "__dynamo_disable", function)


class Momentum(torch.optim.Optimizer):
    """An optimizer with state; PyTorch's own ones import the compiler in step()."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(parameter)
                state["momentum"].mul_(0.9).add_(parameter.grad)
                parameter.sub_(state["momentum"], alpha=0.01)


class Training:
    """An MLP whose loop keeps a tensor every third turn."""

    def __init__(self, device="cuda"):
        torch.manual_seed(0)
        layers = [nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)]
        self.net = nn.Sequential(*layers).to(device)
        self.optimizer = Momentum(self.net.parameters())
        self.device = device
        self.kept = []
        self.turns = 0

    def forward(self):
        self.optimizer.zero_grad()
        return self.net(torch.randn(16, 64, device=self.device)).sum()

    def finish(self, loss) -> None:
        loss.backward()
        self.optimizer.step()
        if self.device != "cpu":
            note()
        self.turns += 1
        if self.turns % 3 == 0:
            self.kept.append(loss.detach())

    def turn(self) -> None:
        self.finish(self.forward())

    def run(self, turns: int) -> None:
        for _ in range(turns):
            self.turn()
