"""A language model of two LSTM layers on cuDNN; the hidden state goes on, detached."""

# expect: clean
# steps: 40

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(200, 64)
        self.lstm = nn.LSTM(64, 128, num_layers=2, dropout=0.2, batch_first=True)
        self.head = nn.Linear(128, 200)

    def forward(self, tokens, state):
        output, state = self.lstm(self.embed(tokens), state)
        return self.head(output), state


def main():
    net = Model().cuda()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    state = None

    for step in range(40):
        tokens = torch.randint(0, 200, (8, 33), device="cuda")
        scores, state = net(tokens[:, :-1], state)
        state = tuple(part.detach() for part in state)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.25)
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
