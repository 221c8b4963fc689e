"""A loop written for Hugging Face's accelerate: accumulation, clipping, gathered metrics."""

# needs: accelerate
# expect: clean
# steps: 40

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision="bf16")
    net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 10))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    data = TensorDataset(torch.randn(640, 64), torch.randint(0, 10, (640,)))
    schedule = torch.optim.lr_scheduler.StepLR(opt, 10)
    net, opt, loader, schedule = accelerator.prepare(
        net, opt, DataLoader(data, batch_size=16, shuffle=True), schedule
    )

    for epoch in range(2):
        net.train()
        total = 0.0
        for x, y in loader:
            with accelerator.accumulate(net):
                loss = nn.functional.cross_entropy(net(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                schedule.step()
                opt.zero_grad()
            total += accelerator.gather_for_metrics(loss.detach()).mean().item()
        accelerator.print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}")


main()
