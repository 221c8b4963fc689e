"""A DataLoader's workers: they come by fork, don't use the GPU, and one of them fails."""

import torch
from tiny import Training
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, bad=None):
        self.bad = bad

    def __len__(self):
        return 24

    def __getitem__(self, index):
        if index == self.bad:
            raise ValueError("a bad sample")
        return torch.full((64,), float(index))


training = Training()
training.turn()
for epoch in range(2):
    for batch in DataLoader(Numbers(), batch_size=4, num_workers=2):
        batch.cuda()
        training.turn()
    print(epoch, training.turns)
try:
    for batch in DataLoader(Numbers(bad=9), batch_size=4, num_workers=2):
        training.turn()
except ValueError as error:
    print(str(error).strip().splitlines()[-1])
training.turn()
print("done")
