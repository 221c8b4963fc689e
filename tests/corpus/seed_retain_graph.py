"""seed-retain-graph: backward(retain_graph=True) each step, and the losses kept for a plot.

retain_graph keeps what forward saved, and each kept loss keeps its graph.
"""

# expect: LEAK
# exit: 1
# steps: 150
# rate: 166912

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(256, 512)
        self.fc2 = nn.Linear(512, 512)
        self.fc3 = nn.Linear(512, 10)

    def forward(self, x):
        x = torch.relu(self.fc1(x))  # <- LEAK rate=65536
        x = torch.relu(self.fc2(x))  # <- LEAK rate=65536
        return self.fc3(x)


def train(steps=150):
    net = Net().cuda()
    opt = torch.optim.AdamW(net.parameters())
    losses = []

    for _ in range(steps):
        x = torch.randn(32, 256, device="cuda")  # <- LEAK rate=32768
        y = torch.randint(0, 10, (32,), device="cuda")  # <- LEAK rate=512
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)  # <- LEAK rate=2560
        loss.backward(retain_graph=True)
        opt.step()  # <- JUMP
        losses.append(loss)

    print(f"mean loss {torch.stack(losses).mean().item():.4f}")


train()
