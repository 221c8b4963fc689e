"""Hugging Face Trainer with a small BERT that sorts sequences of many lengths, padded."""

# needs: transformers
# expect: clean
# steps: 40

import tempfile

import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
)


class Sentences(Dataset):
    def __init__(self, count):
        self.lengths = torch.randint(8, 64, (count,)).tolist()

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return {
            "input_ids": torch.randint(1, 300, (self.lengths[index],)),
            "label": index % 3,
        }


def collate(items):
    ids = torch.nn.utils.rnn.pad_sequence([i["input_ids"] for i in items], batch_first=True)
    return {
        "input_ids": ids,
        "attention_mask": (ids != 0).long(),
        "labels": torch.tensor([i["label"] for i in items]),
    }


def accuracy(prediction):
    hits = prediction.predictions.argmax(-1) == prediction.label_ids
    return {"accuracy": float(hits.mean())}


def main():
    config = BertConfig(
        vocab_size=300, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=128, max_position_embeddings=64, num_labels=3,
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=40, per_device_train_batch_size=8,
            gradient_accumulation_steps=2, logging_steps=10, eval_strategy="steps", eval_steps=20,
            save_strategy="no", bf16=True, report_to="none", disable_tqdm=True,
        )
        trainer = Trainer(
            model=BertForSequenceClassification(config), args=arguments,
            train_dataset=Sentences(128), eval_dataset=Sentences(32), data_collator=collate,
            compute_metrics=accuracy,
        )
        trainer.train()
        print(trainer.evaluate())


main()
