"""A value read back at the very end, after a backward pass: the process must not abort."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
model.cuda()
for _ in range(3):
    loss = model(torch.randn(64, 256, device="cuda")).sum()
    loss.backward()
loss.item()
