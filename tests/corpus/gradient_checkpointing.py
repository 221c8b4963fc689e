"""gradient-checkpointing: activations are made anew in backward(); the loop itself keeps the
last layer's outputs.
"""

# expect: LEAK
# exit: 1
# steps: 120
# rate: 131072

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def train(steps=120):
    blocks = nn.ModuleList(Block() for _ in range(4)).cuda()
    opt = torch.optim.SGD(blocks.parameters(), lr=1e-2)
    embeddings = []

    for _ in range(steps):
        x = torch.randn(128, 256, device="cuda", requires_grad=True)
        hidden = x
        for block in blocks:
            hidden = checkpoint(block, hidden, use_reentrant=False)
        loss = hidden.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        embeddings.append(hidden.detach().clone())  # <- LEAK rate=131072

    print(f"loss {loss.item():.4f}, {len(embeddings)} embeddings")


train()
