"""kv-cache (transformers#47731): every tenth step generates a sample with a key-value cache of
fixed size.

The cache is made by the first generation, then kept as an attribute and written over by each
later one.
"""

# expect: JUMP
# exit: 0
# steps: 120
# forbid: LEAK GROWING

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=128, longest=512, batch=8):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.longest, self.batch, self.cache = longest, batch, None

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))

    @torch.no_grad()
    def generate(self, x, tokens):
        if self.cache is None:
            shape = (2, self.batch, self.longest, x.shape[-1])
            self.cache = torch.zeros(shape, device=x.device)  # <- JUMP first=11
        for position in range(tokens):
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            self.cache[0, :, position], self.cache[1, :, position] = k[:, 0], v[:, 0]
            keys, values = self.cache[:, :, : position + 1]
            x = self.out(nn.functional.scaled_dot_product_attention(q, keys, values))
        return x


def train(steps=120):
    net = Attention().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    for step in range(steps):
        x = torch.randn(8, 64, 128, device="cuda")
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        opt.step()
        if step % 10 == 9:
            net.generate(x[:, :1], tokens=16)

    print(f"loss {loss.item():.4f}")


train()
