"""20 GiB in use on the device cost the host nothing."""
import sys

import torch

from check import expect, expect_equal, result


def resident_mib() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


torch.zeros(10, device="cuda").add_(1)
before = resident_mib()
held = [torch.zeros(1 << 28, device="cuda").add_(1) for _ in range(20)]
small = [torch.zeros(100, device="cuda") for _ in range(1000)]
grown = resident_mib() - before
print(f"resident memory grew by {grown} MiB")
expect_equal(torch.cuda.memory_allocated() >> 30, 20)
expect(grown <= 20, f"{grown} MiB")
sys.exit(result())
