"""Streams, events, captured graphs, pinned memory."""
import sys
import time

import torch
from torch import nn

from check import expect, expect_equal, result


def streams() -> None:
    side = torch.cuda.Stream()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    with torch.cuda.stream(side):
        value = torch.randn(100, device="cuda")
        value.record_stream(torch.cuda.current_stream())
        time.sleep(0.02)
        end.record()
    torch.cuda.current_stream().wait_stream(side)
    end.synchronize()
    expect(15 < start.elapsed_time(end) < 5000, f"{start.elapsed_time(end)} ms")
    del value
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def graphs() -> None:
    model = nn.Linear(16, 16).cuda()
    data = torch.randn(4, 16, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(data).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    model.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    expect(not torch.cuda.is_current_stream_capturing())
    with torch.cuda.graph(graph):
        expect(torch.cuda.is_current_stream_capturing())
        model(data).sum().backward()
    expect(not torch.cuda.is_current_stream_capturing())
    if torch.cuda.get_allocator_backend() == "native":
        pools = {tuple(segment["segment_pool_id"]) for segment in torch.cuda.memory_snapshot()
                 if "segment_pool_id" in segment}
        expect(len(pools) != 1, f"pools: {pools}")
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    sample = torch.randn(4, 16, device="cuda", requires_grad=True)
    torch.cuda.make_graphed_callables(nn.Linear(16, 16).cuda(), (sample,))(data).sum().backward()


def pinned() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(64.0).view(32, 2))
    loader = torch.utils.data.DataLoader(data, 8, num_workers=2, pin_memory=True)
    batches = 0
    for (batch,) in loader:
        expect(batch.is_pinned())
        expect_equal(batch.cuda(non_blocking=True).cpu().tolist(), batch.tolist())
        batches += 1
    expect_equal(batches, 4)
    expect(not torch.empty(10).is_pinned())


if __name__ == "__main__":
    streams()
    graphs()
    pinned()
    sys.exit(result())
