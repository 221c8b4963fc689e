"""A Lightning module that appends each batch and its loss to a list of its own.

The losses come from the module, the batches from Lightning, which moved them to the GPU.
"""

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
        self.seen = []

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)  # <- LEAK
        self.seen.append((x, y, loss))
        return loss

    def on_train_epoch_end(self):
        mean = sum(loss.item() for _, _, loss in self.seen) / len(self.seen)
        print(f"mean loss {mean:.4f}")  # and never clears the list

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
        loader = DataLoader(data, batch_size=16, shuffle=True)
        trainer.fit(Classifier(), loader)  # <- LEAK via=lightning


main()
