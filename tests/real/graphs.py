"""Forward and backward passes captured once, with private pools, and replayed; the optimizer isn't."""

# expect: clean
# steps: 43

import warnings

import torch
from torch import nn

warnings.filterwarnings("error", message="The CUDA Graph is empty")


def network():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8)).cuda()


def forward_and_backward(net, x, y):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss


def warm_up(net, opt, x, y):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            opt.zero_grad(set_to_none=True)
            forward_and_backward(net, x, y)
            opt.step()
    torch.cuda.current_stream().wait_stream(side)


def main():
    by_hand, by_torch = network(), network()
    opt = torch.optim.Adam([*by_hand.parameters(), *by_torch.parameters()], lr=1e-3)
    x, y = torch.randn(32, 64, device="cuda"), torch.randn(32, 8, device="cuda")

    warm_up(by_hand, opt, x, y)
    opt.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = forward_and_backward(by_hand, x, y)
    graphed = torch.cuda.make_graphed_callables(by_torch, (x.clone(),))

    for step in range(40):
        x.copy_(torch.randn(32, 64))
        y.copy_(torch.randn(32, 8))
        graph.replay()
        by_torch.zero_grad()
        forward_and_backward(graphed, x, y)
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
