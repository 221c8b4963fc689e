"""Two exceptions that go through C++: an out-of-memory error, caught, and one that is not."""

# exit: 1
# memory: 1G

import torch

torch.zeros(8, device="cuda")
try:
    torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError as error:
    print("caught:", str(error).split(".")[0], torch.cuda.memory_allocated())
torch.zeros(3, device="cuda") @ torch.zeros(4, device="cuda")
