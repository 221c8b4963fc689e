"""replay-buffer-filling (tutorials#1620): the same memory, still filling when the run ends.

Its events are those of a leak; the report must say that it cannot know the bound.
"""

# expect: LEAK
# exit: 1
# steps: 200
# rate: 66048
# bound: unknown
# rule: bounded=6.5GiB:function:train -- deque(maxlen=100_000) of 65 KiB each

import random
from collections import deque

import torch
from torch import nn


def train(steps=200, capacity=100_000):
    random.seed(3)
    policy = nn.Sequential(nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 4)).cuda()
    opt = torch.optim.SGD(policy.parameters(), lr=1e-2)
    memory = deque(maxlen=capacity)

    for _ in range(steps):
        state = torch.randn(16, 1024, device="cuda")  # <- LEAK rate=65536
        reward = torch.randn(16, device="cuda")  # <- LEAK rate=512
        memory.append((state, reward))
        states, rewards = random.choice(memory)
        opt.zero_grad()
        loss = nn.functional.smooth_l1_loss(policy(states).max(1).values, rewards)
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, {len(memory)} transitions")


train()
