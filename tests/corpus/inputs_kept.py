"""inputs-kept: batches of a DataLoader go to the GPU in the usual two ways, and each is kept.

What a copy from the host has filled, step after step, is an input; the weights, copied once by
cuda(), are parameters.
"""

# expect: LEAK
# exit: 1
# steps: 100
# rate: 33280

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(3200, 128), torch.randint(0, 10, (3200,)))
loader = DataLoader(data, batch_size=64, pin_memory=True)
net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
opt = torch.optim.AdamW(net.parameters())
seen = []

for epoch in range(2):
    for images, labels in loader:
        images = images.cuda(non_blocking=True)  # <- LEAK rate=32768 kind=input
        labels = labels.to("cuda")  # <- LEAK rate=512 kind=input
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        opt.step()  # <- JUMP kind=optimizer-state size=2.0
        seen.append((images, labels))

print(f"loss {loss.item():.4f}, {len(seen)} batches")
