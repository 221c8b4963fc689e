"""DistributedDataParallel over gloo and nccl, and a tensor handed to another process."""
import os
import socket
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from check import expect, expect_equal, result


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def barrier_is_one(rank: int, folder: str, backend: str) -> None:
    """The first rank prepares something, and the others wait for it at a barrier."""
    ready = os.path.join(folder, backend)
    if rank == 0:
        time.sleep(0.3)
        os.mkdir(ready)
    dist.barrier()
    expect(os.path.exists(ready), f"{backend}: rank {rank} is beyond the barrier first")


def worker(rank: int, backend: str, port: str, folder: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.cuda.set_device(rank)
    dist.init_process_group(backend, rank=rank, world_size=2)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Linear(64, 8)).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(16, 32, device="cuda")).sum().backward()
        optimizer.step()
    gathered = [torch.zeros(2, device="cuda") for _ in range(2)]
    dist.all_gather(gathered, torch.full((2,), 3.0).cuda())
    expect_equal([t.tolist() for t in gathered], [[3.0, 3.0]] * 2, backend)
    if backend == "nccl":
        whole = torch.zeros(4, device="cuda")
        dist.all_gather_into_tensor(whole, torch.full((2,), 5.0).cuda())
        expect_equal(whole.tolist(), [5.0] * 4, "all_gather_into_tensor")
    del gathered
    barrier_is_one(rank, folder, backend)
    dist.barrier()
    # Not through destructors: 2.2.2 can wait for its gloo threads there with the GIL held while
    # one of them wants the GIL to let a tensor go. It does so on CPU tensors, too.
    sys.stdout.flush()
    os._exit(result())


def receive(queue, answers) -> None:
    tensor = queue.get()
    answers.put((tensor.is_cuda, tuple(tensor.shape), tuple((tensor + 1).shape)))
    del tensor


def handed_over() -> None:
    context = mp.get_context("spawn")
    queue, answers = context.Queue(), context.Queue()
    process = context.Process(target=receive, args=(queue, answers))
    process.start()
    tensor = torch.randn(1000, device="cuda")
    queue.put(tensor)
    expect_equal(answers.get(timeout=100), (True, (1000,), (1000,)))
    process.join()
    expect_equal(process.exitcode, 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("gloo", "nccl"):
            mp.spawn(worker, args=(name, free_port(), scratch), nprocs=2)
    handed_over()
    sys.exit(result())
