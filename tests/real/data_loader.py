"""A DataLoader with 2 workers, pinned memory and copies that don't wait."""

# expect: clean
# steps: 60

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        return torch.randn(3, 32, 32), index % 10


def main():
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)
    ).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    loader = DataLoader(
        Images(), batch_size=16, num_workers=2, pin_memory=True, persistent_workers=True,
        shuffle=True,
    )

    for epoch in range(3):
        for x, y in loader:
            assert x.is_pinned()
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
