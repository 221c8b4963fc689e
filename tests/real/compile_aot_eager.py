"""torch.compile with aot_eager: the graph is captured and runs operation by operation."""

# expect: clean
# steps: 40

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        for layer in self.layers:
            x = x + nn.functional.gelu(layer(x))
        return self.head(x)


def main():
    net = Net().cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    compiled = torch.compile(net, backend="aot_eager")

    for step in range(40):
        x, y = torch.randn(32, 64, device="cuda"), torch.randint(0, 10, (32,), device="cuda")
        loss = nn.functional.cross_entropy(compiled(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
