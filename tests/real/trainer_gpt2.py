"""Hugging Face Trainer with a small GPT-2 from random numbers, checkpoints and evaluation."""

# needs: transformers
# expect: clean
# steps: 40

import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Tokens(Dataset):
    def __init__(self, count):
        self.tokens = torch.randint(0, 500, (count, 64))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


def main():
    config = GPT2Config(
        vocab_size=500, n_positions=64, n_embd=64, n_layer=2, n_head=2, bos_token_id=0,
        eos_token_id=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=40, per_device_train_batch_size=4, logging_steps=10,
            eval_strategy="steps", eval_steps=20, save_steps=20, save_total_limit=1,
            report_to="none", disable_tqdm=True,
        )
        trainer = Trainer(
            model=GPT2LMHeadModel(config), args=arguments, train_dataset=Tokens(64),
            eval_dataset=Tokens(16),
        )
        trainer.train()
        print(trainer.evaluate())


main()
