"""A Lightning module that appends each step's loss to a list of its own, graph and all."""

# needs: lightning
# expect: LEAK
# exit: 1
# steps: 60

import tempfile

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
        self.losses = []

    def training_step(self, batch, index):
        x, y = batch
        scores = self.net(x)  # <- LEAK
        loss = nn.functional.cross_entropy(scores, y)  # <- LEAK
        self.losses.append(loss)
        return loss

    def on_train_epoch_end(self):
        print(f"mean loss {torch.stack(self.losses).mean().item():.4f}")  # never cleared

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    data = TensorDataset(torch.randn(320, 64), torch.randint(0, 10, (320,)))
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            accelerator="gpu",
            devices=1,
            max_epochs=3,
            default_root_dir=folder,
            enable_checkpointing=False,
            logger=False,
            enable_progress_bar=False,
        )
        trainer.fit(Classifier(), DataLoader(data, batch_size=16, shuffle=True))


main()
