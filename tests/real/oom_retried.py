"""Every tenth batch is too large for the GPU: the step is caught, and done again by halves."""

# expect: clean
# steps: 40
# memory: 1G

import torch
from torch import nn

OutOfMemory = torch.cuda.OutOfMemoryError


def train_on(net, opt, batch):
    """Gradients of the batch, of its halves where it doesn't fit.  How many pieces it took."""
    try:
        net(batch).pow(2).mean().backward()
        return 1
    except OutOfMemory:
        opt.zero_grad()
    torch.cuda.empty_cache()
    return sum(train_on(net, opt, half) for half in batch.chunk(2))


def main():
    net = nn.Sequential(nn.Linear(64, 4096), nn.ReLU(), nn.Linear(4096, 64)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    pieces = []

    for step in range(40):
        batch = torch.randn(32768 if step % 10 == 9 else 256, 64, device="cuda")
        opt.zero_grad()
        pieces.append(train_on(net, opt, batch))
        opt.step()

    print(f"pieces: {pieces}")
    assert pieces[9] > 1 and pieces[10] == 1


main()
