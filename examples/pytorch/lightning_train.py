#!/usr/bin/env python3
"""Fashion-MNIST with Lightning, as a peer of a fleet: a LightningModule, a Trainer and one callback.

    grapevine run lightning.yaml      (pip install lightning; apt-get install dataset-fashion-mnist)
    lightning_train.py [--lr 0.05] [--epochs 2] [--data FOLDER]      a fleet of one
"""
import argparse

import lightning
import torch
import torch.nn.functional as F

import grapevine.lightning
import grapevine.torch as gv
from train import dataset, evaluate


class Classifier(lightning.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.layers = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))

    def forward(self, x):
        return self.layers(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--lr", type=float, default=0.05)
    words.add_argument("--epochs", type=int, default=2)
    words.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    given = words.parse_args()

    gv.init()
    train, test = dataset(given.data, "train"), dataset(given.data, "t10k")
    loader = torch.utils.data.DataLoader(train, gv.batch(64), sampler=gv.Sampler(train))
    peer = grapevine.lightning.Callback(evaluate=lambda model: evaluate(model, test))
    trainer = lightning.Trainer(max_epochs=given.epochs, accelerator="cpu", devices=1, callbacks=[peer], logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Classifier(given.lr), loader)


if __name__ == "__main__":
    main()
