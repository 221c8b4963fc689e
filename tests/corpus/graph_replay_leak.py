"""graph-replay-leak: a captured step is replayed, and each turn keeps a copy of the static output.

A replay calls no hook of the allocator; the marks must count all the same.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 16384

import torch
from torch import nn


def train(steps=200):
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    head = nn.Linear(64, 8).cuda()
    opt = torch.optim.SGD(head.parameters(), lr=1e-2)
    static = torch.randn(64, 64, device="cuda")
    kept = []

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.no_grad():
        net(static)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        features = net(static)

    for _ in range(steps):
        static.copy_(torch.randn(64, 64))
        graph.replay()
        opt.zero_grad()
        loss = head(features).pow(2).mean()
        loss.backward()
        opt.step()
        kept.append(features.clone())  # <- LEAK rate=16384

    print(f"loss {loss.item():.4f}, {len(kept)} outputs")


train()
