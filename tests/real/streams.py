"""Batches are prepared on a stream of their own and handed over with record_stream()."""

# expect: clean
# steps: 40

import torch
from torch import nn


class Prefetcher:
    """One batch ahead, on its own stream."""

    def __init__(self, batches):
        self.batches = batches
        self.stream = torch.cuda.Stream()
        self.next = self.load()

    def load(self):
        with torch.cuda.stream(self.stream):
            host = torch.randn(256, 64).pin_memory()
            return host.cuda(non_blocking=True).mul_(0.5)

    def __iter__(self):
        for _ in range(self.batches):
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.next
            batch.record_stream(torch.cuda.current_stream())
            self.next = self.load()
            yield batch


def main():
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    done = torch.cuda.Event()

    for step, batch in enumerate(Prefetcher(40)):
        loss = nn.functional.mse_loss(net(batch), batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
        done.record()
        if step % 10 == 9:
            done.synchronize()
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
