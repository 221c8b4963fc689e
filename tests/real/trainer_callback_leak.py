"""A Trainer whose callback keeps the outputs of every step "for a plot later"."""

# needs: transformers
# expect: LEAK
# exit: 1
# steps: 60

import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments


class Tokens(Dataset):
    def __init__(self, count):
        self.tokens = torch.randint(0, 500, (count, 64))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


class KeepOutputs(TrainerCallback):
    """Looks at one probe sentence after each step."""

    def __init__(self):
        self.probe, self.kept = torch.randint(0, 500, (1, 32)), []

    def on_step_end(self, args, state, control, model=None, **kwargs):
        with torch.no_grad():
            self.kept.append(model(self.probe.to(model.device)).logits)  # <- LEAK via=transformers


def main():
    config = GPT2Config(
        vocab_size=500,
        n_positions=64,
        n_embd=64,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            max_steps=60,
            per_device_train_batch_size=4,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        keep = KeepOutputs()
        trainer = Trainer(
            model=GPT2LMHeadModel(config),
            args=arguments,
            train_dataset=Tokens(64),
            callbacks=[keep],
        )
        trainer.train()
        print(f"{len(keep.kept)} outputs")


main()
