"""Recursion to the limit, with an allocation at each level, in Python and through C."""

import sys

import torch
from tiny import Training


def deep(level):
    torch.empty(level + 1, device="cuda")
    return deep(level + 1)


def deep_through_c(level):
    torch.empty(level + 1, device="cuda")
    return list(map(deep_through_c, [level + 1]))


training = Training()
for limit in (1000, 5000):
    sys.setrecursionlimit(limit)
    for function in (deep, deep_through_c):
        try:
            function(0)
        except RecursionError as error:
            print(limit, str(error)[:40])
        training.turn()
sys.setrecursionlimit(1000)
training.run(3)
