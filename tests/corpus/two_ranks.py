"""two-ranks: two ranks train together (gloo), and only rank 1 keeps its outputs."""

# expect: LEAK
# exit: 1
# steps: 60
# ranks: 2

import os

import torch
import torch.distributed as dist
from torch import nn


def train(rank, steps=60):
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    net = nn.parallel.DistributedDataParallel(net, device_ids=[rank])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    outputs = []

    for _ in range(steps):
        x = torch.randn(128, 64, device="cuda")
        opt.zero_grad()
        y = net(x)  # <- LEAK rank=1 rate=32768
        loss = y.pow(2).mean()
        loss.backward()
        opt.step()
        if rank == 1:
            outputs.append(y.detach())


if __name__ == "__main__":
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("gloo")
    train(rank)
    dist.destroy_process_group()
