"""An evaluation behind the training keeps every output, and ends no step."""

# memory: 1G
# exit: 1
# cause: size
# says: piled up since step 40 ended

import atexit

import torch
from torch import nn

MIB = 1 << 20
atexit.register(lambda: print(f"reserved {torch.cuda.memory_reserved()}"))
atexit.register(lambda: print(f"peak {torch.cuda.max_memory_allocated()}"))


def train(net, steps=40):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    for _ in range(steps):
        loss = net(torch.randn(64, 1024, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


@torch.no_grad()
def evaluate(net, batches=1000):
    outputs = []
    for _ in range(batches):
        outputs.append(net(torch.randn(2048, 1024, device="cuda")))  # <- here, most


net = nn.Linear(1024, 1024).cuda()
train(net)
evaluate(net)
