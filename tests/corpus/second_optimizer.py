"""second-optimizer: a GAN whose discriminator is first stepped at step 80. Two jumps, no leak."""

# expect: JUMP
# exit: 0
# forbid: LEAK GROWING

import torch
from torch import nn


def train(steps=160, warmup=80):
    generator = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    critic = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1)).cuda()
    opt_g = torch.optim.Adam(generator.parameters())
    opt_c = torch.optim.Adam(critic.parameters())

    for step in range(steps):
        fake = generator(torch.randn(64, 64, device="cuda"))
        real = torch.randn(64, 256, device="cuda")
        if step >= warmup:
            opt_c.zero_grad()
            (critic(fake.detach()).mean() - critic(real).mean()).backward()
            opt_c.step()  # <- JUMP occasion=for-parameters-that-joined
        opt_g.zero_grad()
        loss = -critic(fake).mean() if step >= warmup else nn.functional.mse_loss(fake, real)
        loss.backward()
        opt_g.step()  # <- JUMP first=1 occasion=first-optimizer-step

    print(f"loss {loss.item():.4f}")


train()
