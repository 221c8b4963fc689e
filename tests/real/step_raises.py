"""Steps of optimizers that an exception leaves: what is allocated afterwards is no optimizer's, and
nothing that a later step allocates is taken for anything else.

PyTorch calls no hook after such a step.
"""

# expect: LEAK
# exit: 1
# steps: 59
# uneven: a step that raises ends no step, so some keep twice as much

import torch
from torch import nn

kept = []


class Careful(torch.optim.SGD):
    """Refuses every tenth step, as one that finds its gradients not finite."""

    calls = 0

    @torch.no_grad()
    def step(self, closure=None):
        Careful.calls += 1
        scratch = torch.ones(1024, device="cuda")
        if Careful.calls % 10 == 5:
            raise FloatingPointError("gradients")
        del scratch
        return super().step(closure)  # <- JUMP kind=optimizer-state


def keep():
    kept.append(torch.ones(2048, device="cuda"))  # <- LEAK rate=9164 first=2


def main():
    net = nn.Linear(32, 32).cuda()
    optimizer = Careful(net.parameters(), lr=0.1, momentum=0.9)
    while Careful.calls < 66:
        keep()
        net(torch.ones(4, 32, device="cuda")).sum().backward()
        try:
            optimizer.step()
        except FloatingPointError:
            pass
        optimizer.zero_grad()


main()
