"""A Lightning Trainer with validation, logging, checkpoints, a metric and mixed precision."""

# needs: lightning, torchmetrics
# expect: clean
# steps: 60

import tempfile

import lightning
import torch
import torchmetrics
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
        self.accuracy = torchmetrics.Accuracy("multiclass", num_classes=10)

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        scores = self.net(x)
        self.accuracy(scores, y)
        self.log("loss", nn.functional.cross_entropy(scores, y))
        self.log("accuracy", self.accuracy)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def loader(count, shuffle=False):
    data = TensorDataset(torch.randn(count, 64), torch.randint(0, 10, (count,)))
    return DataLoader(data, batch_size=16, shuffle=shuffle)


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            accelerator="gpu",
            devices=1,
            max_epochs=3,
            precision="bf16-mixed",
            default_root_dir=folder,
            callbacks=[ModelCheckpoint(monitor="loss", save_top_k=1)],
            log_every_n_steps=5,
            logger=False,
            enable_progress_bar=False,
        )
        trainer.fit(Classifier(), loader(320, shuffle=True), loader(64))
        print({name: value.item() for name, value in trainer.callback_metrics.items()})


main()
