"""Generators, coroutines and comprehensions allocate; some are thrown into, some never end."""

import asyncio

import torch
from tiny import Training


def numbers(count):
    kept = []
    try:
        for i in range(count):
            kept.append(torch.empty(100 * i + 1, device="cuda"))
            yield i
    finally:
        torch.empty(10, device="cuda")


def delegating(count):
    yield from numbers(count)
    yield from (i for i in numbers(3))


async def asynchronous(count):
    for i in range(count):
        torch.empty(50, device="cuda")
        await asyncio.sleep(0)
    return count


async def all_of_them():
    return await asyncio.gather(*(asynchronous(i) for i in range(5)))


training = Training()
left_open = []
for turn in range(10):
    print(sum(delegating(5)), sum([i for i in numbers(4)]))
    opened = numbers(100)
    next(opened)
    left_open.append(opened)
    thrown = numbers(100)
    next(thrown)
    try:
        thrown.throw(ValueError("into a generator"))
    except ValueError as error:
        print(error)
    print(asyncio.run(all_of_them()))
    training.turn()
