"""A GAN: two networks, two optimizers, each stepping once in a round."""

# expect: clean
# steps: 40
# optimizers: 2

import torch
from torch import nn


def main():
    generator = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64)).cuda()
    critic = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)).cuda()
    for_generator = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for_critic = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(32, 1, device="cuda"), torch.zeros(32, 1, device="cuda")

    for step in range(40):
        real, noise = torch.randn(32, 64, device="cuda"), torch.randn(32, 16, device="cuda")
        made = generator(noise)

        for_critic.zero_grad()
        critic_loss = criterion(critic(real), ones) + criterion(critic(made.detach()), zeros)
        critic_loss.backward()
        for_critic.step()

        for_generator.zero_grad()
        loss = criterion(critic(made), ones)
        loss.backward()
        for_generator.step()
        if step % 10 == 9:
            print(f"step {step + 1}: losses {critic_loss.item():.4f}, {loss.item():.4f}")


main()
