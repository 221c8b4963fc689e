"""A Transformer whose weights are bfloat16, with a fused optimizer."""

# expect: clean
# steps: 40

import torch
from torch import nn


def main():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True)
    net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to("cuda", torch.bfloat16)
    head = nn.Linear(64, 100).to("cuda", torch.bfloat16)
    opt = torch.optim.AdamW([*net.parameters(), *head.parameters()], lr=1e-3, fused=True)
    mask = nn.Transformer.generate_square_subsequent_mask(32, device="cuda", dtype=torch.bfloat16)

    for step in range(40):
        x = torch.randn(4, 32, 64, device="cuda", dtype=torch.bfloat16)
        y = torch.randint(0, 100, (4, 32), device="cuda")
        scores = head(net(x, mask=mask, is_causal=True))
        loss = nn.functional.cross_entropy(scores.flatten(0, 1).float(), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
