"""cuDNN's recurrent networks: PyTorch itself checks where each weight lies."""
import itertools
import sys

import torch
from torch import nn

from check import expect, expect_equal, result


def run(network: nn.RNNBase, data: torch.Tensor, width: int) -> None:
    output, _ = network(data)
    expect_equal(output.shape[-1], width, f"{network}: width")
    output.float().sum().backward()
    expect(all(p.grad is not None for p in network.parameters()))


for kind, both, bias, first in itertools.product((nn.LSTM, nn.GRU, nn.RNN), *((False, True),) * 3):
    network = kind(12, 16, 2, dropout=0.1, bidirectional=both, bias=bias, batch_first=first).cuda()
    run(network, torch.randn(5, 3, 12, device="cuda"), 32 if both else 16)
run(nn.LSTM(12, 16, 2, proj_size=7).cuda(), torch.randn(5, 3, 12, device="cuda"), 7)
run(nn.LSTM(12, 16, 2).cuda().half(), torch.randn(5, 3, 12, device="cuda").half(), 16)
packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 12, device="cuda"), [5, 4, 2])
nn.GRU(12, 16).cuda()(packed)[0].data.sum().backward()

# What is kept for backward grows with the sequence.
network = nn.LSTM(64, 64).cuda()
kept = []
for steps in (8, 16, 32):
    before = torch.cuda.memory_allocated()
    output, _ = network(torch.randn(steps, 4, 64, device="cuda"))
    kept.append(torch.cuda.memory_allocated() - before)
    del output, _
expect(kept[0] < kept[1] < kept[2], f"{kept}")
sys.exit(result())
