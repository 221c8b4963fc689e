"""worker-contexts (pytorch#20532): two loader processes that put their samples on the GPU themselves.

Each has its own memory there, and its own trace; the training process is clean.
"""

# expect: STABLE
# exit: 0
# steps: 80
# forbid: LEAK GROWING JUMP

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class OnGpu(Dataset):
    def __len__(self):
        return 80 * 16

    def __getitem__(self, index):
        sample = torch.randn(256, device="cuda")
        return (sample * 2).cpu()


def train():
    net = nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    loader = DataLoader(OnGpu(), 16, num_workers=2, multiprocessing_context="spawn")

    for x in loader:
        x = x.cuda()
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    train()
