"""The figures of PyTorch's caching allocator follow its own rules, as on a real GPU."""
import sys

import torch

from check import expect, expect_equal, result

MIB = 1 << 20


def stat(name: str) -> int:
    return torch.cuda.memory_stats()[name + ".all.current"]


def small_blocks() -> None:
    """Up to 1 MiB: rounded to 512 bytes, from a segment of 2 MiB."""
    keep = torch.empty(1, device="cuda")
    expect_equal(torch.cuda.memory_allocated(), 512)
    expect_equal(torch.cuda.memory_reserved(), 2 * MIB)
    more = torch.empty(513, dtype=torch.uint8, device="cuda")
    expect_equal(torch.cuda.memory_allocated(), 512 + 1024)
    expect_equal(stat("segment"), 1)
    whole = torch.empty(MIB, dtype=torch.uint8, device="cuda")
    expect_equal(torch.cuda.memory_reserved(), 2 * MIB)
    another = torch.empty(MIB, dtype=torch.uint8, device="cuda")
    expect_equal(torch.cuda.memory_reserved(), 4 * MIB)
    del keep, more, whole, another


def large_blocks() -> None:
    """Above 1 MiB: segments of 20 MiB; from 10 MiB on: what is asked for, in steps of 2 MiB."""
    middle = torch.empty(MIB + 1, dtype=torch.uint8, device="cuda")
    expect_equal(torch.cuda.memory_allocated(), MIB + 512)
    expect_equal(torch.cuda.memory_reserved(), 20 * MIB)
    large = torch.empty(25 * MIB + 1, dtype=torch.uint8, device="cuda")
    expect_equal(torch.cuda.memory_reserved(), 20 * MIB + 26 * MIB)
    free, total = torch.cuda.mem_get_info()
    expect_equal(total - free, 46 * MIB, "used on the device")
    del middle, large


def everything_goes_back() -> None:
    torch.cuda.empty_cache()
    expect_equal(torch.cuda.memory_allocated(), 0)
    expect_equal(torch.cuda.memory_reserved(), 0)
    free, total = torch.cuda.mem_get_info()
    expect_equal(free, total)


def optimizer_state() -> None:
    """AdamW keeps two copies of the parameters, and a step that costs 512 bytes if on the GPU."""
    model = torch.nn.Linear(1024, 1024).cuda()
    parameters = torch.cuda.memory_allocated()
    expect_equal(parameters, 4 * MIB + 4096)
    optimizer = torch.optim.AdamW(model.parameters())
    sum(p.sum() for p in model.parameters()).backward()
    before = torch.cuda.memory_allocated()
    optimizer.step()
    expect_equal(torch.cuda.memory_allocated() - before, 2 * parameters, "optimizer state")
    optimizer.zero_grad(set_to_none=True)
    expect_equal(torch.cuda.memory_allocated(), 3 * parameters)


torch.cuda.init()
expect_equal(torch.cuda.memory_allocated(), 0)
small_blocks()
everything_goes_back()
large_blocks()
everything_goes_back()
optimizer_state()
snapshot = torch.cuda.memory_snapshot()
expect_equal(sum(segment["total_size"] for segment in snapshot), torch.cuda.memory_reserved())
expect("reserved" in torch.cuda.memory_summary().lower())
sys.exit(result())
