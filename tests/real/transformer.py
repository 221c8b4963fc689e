"""A Transformer encoder with dropout, a padding mask and clipped gradients."""

# expect: clean
# steps: 30

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
        self.embed = nn.Embedding(100, 64)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 10)

    def forward(self, tokens, padding):
        return self.head(self.encoder(self.embed(tokens), src_key_padding_mask=padding))


def main():
    net = Tagger().cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-3, total_steps=30)

    for step in range(30):
        tokens = torch.randint(0, 100, (8, 32), device="cuda")
        tags = torch.randint(0, 10, (8, 32), device="cuda")
        padding = (torch.arange(32) >= 24).expand(8, 32).cuda()
        loss = nn.functional.cross_entropy(net(tokens, padding).flatten(0, 1), tags.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        schedule.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
