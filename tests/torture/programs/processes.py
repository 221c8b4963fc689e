"""multiprocessing: spawn, forkserver, and fork before CUDA; each child trains and answers."""

import multiprocessing

import torch
from tiny import Training


def train(turns, answers):
    training = Training()
    training.run(turns)
    answers.put((turns, torch.cuda.memory_allocated()))


def run(method, turns):
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    process = context.Process(target=train, args=(turns, answers))
    process.start()
    print(method, answers.get(timeout=90))
    process.join()
    print(process.exitcode)


if __name__ == "__main__":
    run("fork", 4)
    run("spawn", 5)
    run("forkserver", 6)
    Training().run(7)
