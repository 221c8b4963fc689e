"""Two devices of different sizes."""
import os
import sys

import torch

from check import expect, expect_equal, expect_raises, result

GIB = 1 << 30


def count_with(**environment: str) -> str:
    """What a process with this environment sees: a child, forked before CUDA is used."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.environ.update(environment)
        memory = torch.cuda.is_available() and torch.cuda.get_device_properties(0).total_memory
        os.write(writer, f"{torch.cuda.device_count()} {memory}".encode())
        os._exit(0)
    os.wait()
    os.close(writer)
    return os.read(reader, 100).decode()


expect_equal(count_with(CUDA_VISIBLE_DEVICES="1"), f"1 {GIB}")
expect_equal(count_with(CUDA_VISIBLE_DEVICES=""), "0 False")
expect_equal(count_with(GPULEAK_SIM_DEVICES="0"), "0 False")
expect_equal(torch.cuda.device_count(), 2)
first, second = (torch.cuda.get_device_properties(i) for i in (0, 1))
expect_equal((first.total_memory, second.total_memory), (2 * GIB, 1 * GIB))
if hasattr(first, "uuid"):
    expect(first.uuid != second.uuid)
expect_equal((first.major, first.minor), (9, 0))

there = torch.tensor([7.0], device="cuda:1")
expect_equal(there.get_device(), 1)
expect_equal(there.to("cuda:0").item(), 7.0, "a value copied between devices")
expect_equal(torch.cuda.memory_allocated(1), 512)
expect_raises(torch.cuda.OutOfMemoryError, "GPU 1 has a total capac",
              lambda: torch.empty(3 * GIB // 2, dtype=torch.uint8, device="cuda:1"))
big = torch.empty(3 * GIB // 2, dtype=torch.uint8, device="cuda:0")
del big

torch.cuda.empty_cache()
model = torch.nn.DataParallel(torch.nn.Linear(8, 8).cuda())
model(torch.randn(4, 8, device="cuda")).sum().backward()
expect(model.module.weight.grad is not None)
sys.exit(result())
