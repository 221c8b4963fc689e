"""What is said of memory that has no sites, beside a training that keeps nothing on the GPU: the
process's own, and what CUDA gives to a library that no hook sees.
"""

import ctypes
import os
import random

import torch
from torch import nn

import rows
from rows import row

STEPS = 200
HOST = {"host": "HOST", "verdict": "HOST"}


def train(turn, steps=STEPS):
    """turn(step) once in each step of a training."""
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(steps):
        turn(step)
        opt.zero_grad()
        net(torch.randn(16, 64, device="cuda")).pow(2).mean().backward()
        opt.step()


@row(steps=STEPS)
def nothing_kept():
    train(lambda step: None)


@row(steps=STEPS, **HOST)
def pinned_buffers_kept():
    kept = []
    train(lambda step: kept.append(torch.randn(64, 256).pin_memory()))


@row(steps=STEPS, **HOST)
def host_tensors_kept():
    kept = []
    train(lambda step: kept.append(torch.randn(256, 256)))


@row(steps=STEPS, **HOST)
def lists_kept_each_tenth_step():
    kept = []
    train(lambda step: step % 10 == 0 and kept.append(list(range(step * 1000, (step + 120) * 1000))))


@row(steps=STEPS, **HOST)
def kept_after_a_fork():
    """The child has its own numbers, not the parent's."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    kept = []
    train(lambda step: kept.append(torch.randn(256, 256)))
    if not child:
        os._exit(0)


@row(steps=STEPS)
def pinned_buffers_in_turn():
    """PyTorch keeps what was freed for the next: it fills up, once."""
    ring = [None] * 40
    def turn(step):
        ring[step % 40] = torch.randn(64, 256).pin_memory()
    train(turn)


@row(steps=STEPS)
def data_loaded_in_the_first_half():
    data = []
    train(lambda step: step < 100 and data.append(torch.randn(512, 256)))


@row(steps=STEPS)
def data_mapped_from_a_file():
    """Pages of a file that come in one by one are the kernel's, not the program's."""
    path = f"/tmp/gpuleak-rows-{os.getpid()}.bin"
    with open(path, "wb") as file:
        file.truncate(STEPS << 20)
    data = torch.from_file(path, shared=True, size=STEPS << 18)
    os.unlink(path)
    train(lambda step: data[step << 18 : (step + 1) << 18].sum())


@row(steps=STEPS)
def cache_that_fills():
    """1,000 keys drawn at random: ever fewer are new."""
    cache = {}

    def turn(step):
        for _ in range(10):
            key = random.randrange(1000)
            if key not in cache:
                cache[key] = torch.randn(64, 256)

    train(turn)


@row(steps=STEPS)
def cleared_every_forty_steps():
    kept = []

    def turn(step):
        if step % 40 == 0:
            kept.clear()
        kept.append(torch.randn(256, 256))

    train(turn)


@row(steps=STEPS)
def pieces_of_all_sizes():
    """malloc's fragmentation: 300 live strings of 1 to 200 KB, replaced at random."""
    live = [b""] * 300

    def turn(step):
        for _ in range(30):
            live[random.randrange(300)] = bytes(random.randrange(1000, 200_000))

    train(turn)


@row(steps=STEPS)
def one_large_object_on_the_way():
    kept = []
    train(lambda step: step == 120 and kept.append(torch.randn(4096, 4096)))


@row(steps=STEPS)
def few_bytes_a_step():
    """A list of losses, as every training keeps one."""
    losses = []
    train(lambda step: losses.append(float(step)))


@row(steps=STEPS, device="LEAK", host="HOST", verdict="LEAK")
def leak_on_both_sides():
    """The GPU's is graver."""
    kept = []
    train(lambda step: kept.append((torch.randn(256, 256), torch.randn(256, device="cuda"))))


class Library:
    """Finds the runtime's functions by name, so that no hook sees its calls."""

    def __init__(self):
        torch.zeros(1, device="cuda")
        major = torch.version.cuda.split(".")[0]
        self.cuda = ctypes.CDLL(f"libcudart.so.{major}")
        self.blocks = []

    def take(self, size=2 << 20):
        pointer = ctypes.c_void_p()
        assert self.cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
        self.blocks.append(pointer)

    def give_back(self):
        while self.blocks:
            self.cuda.cudaFree(self.blocks.pop())


def watch(turn):
    """A training whose program asks in each step how much is free."""
    train(lambda step: (turn(step), torch.cuda.mem_get_info()))


@row(steps=STEPS, device="STABLE")
def nothing_taken():
    watch(lambda step: None)


@row(steps=STEPS, device="DRIVER", verdict="DRIVER")
def library_that_takes_each_step():
    library = Library()
    watch(lambda step: library.take())


@row(steps=STEPS, device="STABLE")
def library_that_nobody_asks_about():
    """Nothing is asked on the program's behalf: it isn't seen."""
    library = Library()
    train(lambda step: library.take())


@row(steps=STEPS, device="STABLE")
def library_that_takes_once():
    library = Library()
    watch(lambda step: step == 120 and library.take(400 << 20))


@row(steps=STEPS, device="STABLE")
def library_that_fills_up():
    library = Library()
    watch(lambda step: step < 100 and library.take())


@row(steps=STEPS, device="STABLE")
def library_that_gives_back():
    library = Library()
    watch(lambda step: (library.take(), step % 40 == 39 and library.give_back()))


@row(steps=STEPS, device="STABLE")
def cache_that_grows():
    """PyTorch's reserve, a segment for each of 32 streams, is known."""
    streams = []

    def turn(step):
        streams.append(torch.cuda.Stream())
        with torch.cuda.stream(streams[-1]):
            torch.empty(1 << 20, device="cuda")

    watch(turn)


rows.main()
