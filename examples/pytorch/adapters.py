#!/usr/bin/env python3
"""A body that stays as it is, and small adapters that a fleet trains: only these travel.

    grapevine run adapters.yaml      (apt-get install dataset-fashion-mnist)
    adapters.py [--lr 0.05] [--epochs 1] [--rank 4] [--data FOLDER] [--body FILE]      a fleet of one

Each layer W of the body gets two thin matrices, W + B A, as LoRA does (Hu et al., "LoRA: Low-rank adaptation of large
language models", ICLR 2022). Without --body, a file of torch.save, the body is drawn from the fleet's seed.
"""
import argparse

import torch
import torch.nn.functional as F

import grapevine.torch as gv
from train import dataset, evaluate


class Adapted(torch.nn.Module):
    """A linear layer that is frozen, and the product of two thin matrices beside it, which is zero at first."""

    def __init__(self, layer, rank):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.a = torch.nn.Parameter(torch.randn(rank, layer.in_features) / layer.in_features ** 0.5)
        self.b = torch.nn.Parameter(torch.zeros(layer.out_features, rank))

    def forward(self, x):
        return self.layer(x) + x @ self.a.T @ self.b.T


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--lr", type=float, default=0.05)
    words.add_argument("--epochs", type=int, default=1)
    words.add_argument("--rank", type=int, default=4)
    words.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    words.add_argument("--body")
    given = words.parse_args()

    gv.init()
    train, test = dataset(given.data, "train"), dataset(given.data, "t10k")
    body = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                               torch.nn.Linear(128, 10))
    if given.body:
        body.load_state_dict(torch.load(given.body, weights_only=True))
    model = torch.nn.Sequential(*[Adapted(layer, given.rank) if isinstance(layer, torch.nn.Linear) else layer
                                  for layer in body])
    adapters = [p for p in model.parameters() if p.requires_grad]
    loader = torch.utils.data.DataLoader(train, gv.batch(64), sampler=gv.Sampler(train))
    optimizer = torch.optim.SGD(adapters, lr=given.lr, momentum=0.9)
    gv.DistributedOptimizer(optimizer, model, evaluate=lambda model: evaluate(model, test))
    print(f"{sum(p.numel() for p in adapters)} of {sum(p.numel() for p in model.parameters())} parameters travel")
    for epoch in gv.epochs(given.epochs):
        for x, y in gv.running(loader):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            gv.log(loss)


if __name__ == "__main__":
    main()
