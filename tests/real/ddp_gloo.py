"""DistributedDataParallel over gloo, 2 ranks with a GPU each, started by torchrun."""

# launch: torch.distributed.run --standalone --nproc-per-node 2
# devices: 2
# ranks: 2
# expect: clean
# steps: 40

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.cuda.set_device(rank)
    torch.manual_seed(0)
    net = DistributedDataParallel(
        nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).cuda(), device_ids=[rank]
    )
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    data = TensorDataset(torch.randn(640, 64), torch.randint(0, 10, (640,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)

    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        print(f"rank {rank}, epoch {epoch + 1}: loss {total.item() / 2:.4f}")
    dist.destroy_process_group()


main()
