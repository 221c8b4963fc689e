"""LBFGS with strong Wolfe: a history of vectors that fills up and then stays."""

# expect: clean
# steps: 40

import torch
from torch import nn


def main():
    net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
    opt = torch.optim.LBFGS(
        net.parameters(), lr=0.5, max_iter=4, history_size=8, line_search_fn="strong_wolfe"
    )
    x = torch.randn(256, 16, device="cuda")
    y = x.square().sum(1, keepdim=True)

    def closure():
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        return loss

    for step in range(40):
        loss = opt.step(closure)
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
