"""stream-per-epoch (pytorch-image-models#2781): each epoch makes a stream, whose cached blocks
serve no other stream.
"""

# expect: FRAGMENTATION
# exit: 0
# gate: fragmentation
# steps: 240
# forbid: LEAK GROWING

import torch
from torch import nn


def train(epochs=12, steps=20):
    net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for _ in range(epochs):
        stream = torch.cuda.Stream()
        for _ in range(steps):
            with torch.cuda.stream(stream):
                x = torch.randn(4096, 256, device="cuda") * 0.5
            torch.cuda.current_stream().wait_stream(stream)
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x), x)
            loss.backward()
            opt.step()
            del x

    print(f"loss {loss.item():.4f}")


train()
