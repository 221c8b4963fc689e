# devices: 2
"""One model on two devices, with a leak on the second and a cache emptied on the first."""

import torch
from torch import nn

first = nn.Linear(512, 2048).to("cuda:0")
second = nn.Linear(2048, 512).to("cuda:1")
opt = torch.optim.Adam([*first.parameters(), *second.parameters()])
kept = []
for step in range(100):
    x = torch.randn(64, 512, device="cuda:0")
    hidden = torch.relu(first(x)).to("cuda:1")
    outputs = second(hidden)
    loss = outputs.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    kept.append(outputs.detach())
    if step % 20 == 19:
        torch.cuda.empty_cache()
print(f"loss {loss.item():.4f}")
