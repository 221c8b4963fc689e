"""replay-buffer-full (tutorials#1620): a replay memory of fixed length is full after 60 % of the
run.
"""

# expect: PLATEAU
# exit: 0
# steps: 300
# forbid: LEAK GROWING

import random
from collections import deque

import torch
from torch import nn


def train(steps=300, capacity=180):
    random.seed(3)
    policy = nn.Sequential(nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 4)).cuda()
    opt = torch.optim.SGD(policy.parameters(), lr=1e-2)
    memory = deque(maxlen=capacity)

    for _ in range(steps):
        state = torch.randn(16, 1024, device="cuda")  # <- PLATEAU kind=cache
        reward = torch.randn(16, device="cuda")
        memory.append((state, reward))
        states, rewards = random.choice(memory)
        opt.zero_grad()
        loss = nn.functional.smooth_l1_loss(policy(states).max(1).values, rewards)
        loss.backward()
        opt.step()

    print(f"loss {loss.item():.4f}, {len(memory)} transitions")


train()
