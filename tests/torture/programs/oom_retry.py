"""Out of memory, caught, and tried again with half the batch."""

# memory: 256M

import torch
from tiny import Training

training = Training()
size = 512 << 20
for turn in range(10):
    while True:
        try:
            batch = torch.empty(size, dtype=torch.uint8, device="cuda")
            break
        except torch.cuda.OutOfMemoryError as error:
            print(turn, size >> 20, str(error).split(".")[0])
            size //= 2
    training.turn()
    del batch
    if turn == 5:
        torch.cuda.empty_cache()
        size = 300 << 20
print(size, torch.cuda.memory_allocated(), torch.cuda.memory_stats()["num_ooms"])
