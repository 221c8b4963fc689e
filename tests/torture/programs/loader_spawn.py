"""Workers that come by spawn import PyTorch themselves and use no GPU: they leave no trace."""

import torch
from tiny import Training
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.full((64,), float(index))


if __name__ == "__main__":
    training = Training()
    training.turn()
    workers = DataLoader(
        Numbers(), batch_size=4, num_workers=2, multiprocessing_context="spawn"
    )
    for batch in workers:
        batch.cuda()
        training.turn()
    print("done", training.turns)
