"""notebook-out-cache: a notebook keeps the value of every cell, and with it the tensor."""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 104857.6

import torch
from torch import nn

Out = {}


def run_cell(number, source, names):
    """What a notebook does with a cell that ends in an expression: the value stays in Out."""
    Out[number] = eval(source, names)  # <- LEAK? caller


net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=1e-2)


def fit(steps):
    for _ in range(steps):
        x = torch.randn(32, 64, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()
    return loss.item()


def predict():
    with torch.no_grad():
        return net(torch.randn(4096, 64, device="cuda"))  # <- LEAK rate=104857.6 period=10


for cell in range(20):
    print(f"cell {cell}: loss {fit(10):.4f}")
    run_cell(cell, "predict()", globals())
