"""Beyond the capacity PyTorch raises what it raises on a real GPU, and goes on.  2 GiB."""
import os
import sys

import torch

from check import expect, expect_equal, expect_raises, result

GIB = 1 << 30
caching = os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING") != "1"
backend = torch.cuda.get_allocator_backend()


def bytes_of(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8, device="cuda")


if caching:
    # cudaMallocAsync's text ends after "device " in 2.8, whose number is a zero byte there.
    text = {"native": "CUDA out of memory. Tried to allocate 3.00 GiB"}
    expect_raises(torch.cuda.OutOfMemoryError, text.get(backend, "Allocation on device "),
                  lambda: bytes_of(3 * GIB))
else:
    expect_raises(RuntimeError, "CUDA error: out of memory", lambda: bytes_of(3 * GIB))
if caching and backend == "native":
    expect_raises(torch.cuda.OutOfMemoryError, " of 2.00 GiB of which ",
                  lambda: bytes_of(3 * GIB))

held = [bytes_of(256 << 20) for _ in range(7)]
expect_raises(RuntimeError, "", lambda: bytes_of(512 << 20))
held.clear()
again = bytes_of(1536 << 20)  # the cache is given back and the call repeated
expect(again.is_cuda)
del again
if caching:
    expect(torch.cuda.max_memory_allocated() <= 2 * GIB)
torch.cuda.empty_cache()
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 64, device="cuda")).sum().backward()
    optimizer.step()
del model, optimizer
torch.cuda.empty_cache()
free, total = torch.cuda.mem_get_info()
expect_equal(total, 2 * GIB)
expect(free > total - (128 << 20), f"{free} of {total} free at the end")
sys.exit(result())
