"""interleaved-models: teacher and student in one loop, the teacher's features kept by a
distillation buffer.

Two optimizers step in each turn of the loop; that is one step.
"""

# expect: LEAK
# exit: 1
# steps: 150
# rate: 32768
# optimizers: 2

import torch
from torch import nn


class Distiller:
    def __init__(self):
        self.teacher = nn.Linear(64, 128).cuda()
        self.student = nn.Linear(64, 128).cuda()
        self.opts = [
            torch.optim.SGD(self.teacher.parameters(), lr=1e-2),
            torch.optim.Adam(self.student.parameters()),
        ]
        self.features = []

    def step(self, x):
        target = self.teacher(x)
        guess = self.student(x)
        loss = nn.functional.mse_loss(guess, target.detach()) + target.pow(2).mean()
        for opt in self.opts:
            opt.zero_grad()
        loss.backward()
        for opt in self.opts:
            opt.step()
        self.features.append(torch.sigmoid(target.detach()))  # <- LEAK rate=32768
        return loss


distiller = Distiller()
for _ in range(150):
    loss = distiller.step(torch.randn(64, 64, device="cuda"))
print(f"loss {loss.item():.4f}, {len(distiller.features)} features kept")
