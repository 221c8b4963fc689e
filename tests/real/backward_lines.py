"""Several lines that call backward() or grad(), one of which raises now and then: what stays of each
is put down to its own line, though autograd's threads have no Python frames.
"""

# expect: LEAK
# exit: 1
# steps: 60
# optimizers: 2

import torch
from torch import nn

kept = []


class Stumbling(torch.autograd.Function):
    """Every third backward pass through it fails, where it has allocated already."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        Stumbling.calls += 1
        if Stumbling.calls % 3 == 0:
            raise ValueError("a bad batch")
        return gradient.clone()


def of_critic(critic, made):
    loss = critic(torch.randn(32, 64, device="cuda")).mean() - critic(made.detach()).mean()
    loss.backward()  # <- LEAK rate=34304
    kept.append([p.grad for p in critic.parameters()])


def of_generator(critic, made):
    loss = critic(made).mean()
    loss.backward()


def penalty(critic):
    x = torch.randn(64, 64, device="cuda", requires_grad=True)
    (slope,) = torch.autograd.grad(critic(x).sum(), x)  # <- LEAK rate=16384
    kept.append(slope)


def try_it(head, inputs):
    try:
        Stumbling.apply(head(inputs)).sum().backward()
    except ValueError:
        pass
    head.zero_grad()


def main():
    generator = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64)).cuda()
    critic = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)).cuda()
    head = nn.Linear(64, 8).cuda()
    for_generator = torch.optim.Adam(generator.parameters())
    for_critic = torch.optim.Adam(critic.parameters())

    for _ in range(60):
        made = generator(torch.randn(32, 16, device="cuda"))
        try_it(head, made.detach())
        of_critic(critic, made)
        for_critic.step()
        for_critic.zero_grad()
        penalty(critic)
        for_generator.zero_grad()
        of_generator(critic, made)
        for_generator.step()
        for_critic.zero_grad()


main()
