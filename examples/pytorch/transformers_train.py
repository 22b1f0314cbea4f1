#!/usr/bin/env python3
"""A small GPT-2 that learns the bytes of a text, with the Trainer of Transformers, as a peer of a fleet.

    grapevine run transformers.yaml      (pip install transformers accelerate)
    transformers_train.py [--lr 1e-3] [--epochs 1] [--text FILE]      a fleet of one

Nothing is downloaded: the model begins with random values, and the text is a page of this project.
"""
import argparse
from pathlib import Path

import torch
import transformers

import grapevine.torch as gv
import grapevine.transformers

LENGTH = 64     # bytes of a sample


def samples(path):
    """Stretches of a text, of which the model is to say each next byte; and every tenth of them, to be tested on."""
    text = torch.tensor(list(Path(path).read_bytes()))
    rows = [{"input_ids": row, "labels": row} for row in text[: len(text) // LENGTH * LENGTH].view(-1, LENGTH)]
    return [row for i, row in enumerate(rows) if i % 10], rows[::10]


def evaluate(model, test):
    """The loss of a byte."""
    rows = torch.stack([row["input_ids"] for row in test])
    return model(input_ids=rows, labels=rows).loss


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--lr", type=float, default=1e-3)
    words.add_argument("--epochs", type=int, default=1)
    words.add_argument("--accumulate", type=int, default=1, help="batches of a step")
    words.add_argument("--text", default=Path(__file__).parents[2] / "ARCHITECTURE.md")
    given = words.parse_args()

    gv.init()
    train, test = samples(given.text)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=256, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0))
    arguments = transformers.TrainingArguments(
        output_dir="unused", num_train_epochs=given.epochs, learning_rate=given.lr, use_cpu=True, report_to=[],
        per_device_train_batch_size=gv.batch(8), gradient_accumulation_steps=given.accumulate, logging_steps=5,
        save_strategy="no", disable_tqdm=True)
    peer = grapevine.transformers.Callback(evaluate=lambda model: evaluate(model, test))
    transformers.Trainer(model, arguments, train_dataset=gv.shard(train), callbacks=[peer]).train()


if __name__ == "__main__":
    main()
