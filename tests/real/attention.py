"""scaled_dot_product_attention, each step with the next of its kernels, lengths that vary."""

# expect: clean
# steps: 60

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


class Attention(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        count, length, width = x.shape
        q, k, v = (
            self.inputs(x).view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(count, length, width))


def main():
    net = Attention().to("cuda", torch.bfloat16)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)

    for step in range(60):
        length = 16 + 8 * int(torch.randint(0, 8, (1,)))
        x = torch.randn(4, length, 64, device="cuda", dtype=torch.bfloat16)
        with sdpa_kernel(KERNELS[step % len(KERNELS)]):
            loss = nn.functional.mse_loss(net(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 19:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
