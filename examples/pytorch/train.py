#!/usr/bin/env python3
"""Fashion-MNIST in PyTorch, as a peer of a fleet: alone.py, with the lines that it takes.

    grapevine run fleet.yaml      (apt-get install dataset-fashion-mnist)
    train.py [--lr 0.05] [--epochs 2] [--data FOLDER]      a fleet of one
"""
import argparse
import gzip
from pathlib import Path

import torch
import torch.nn.functional as F

import grapevine.torch as gv


def dataset(folder, part):
    """Images as (n, 784) of 0 to 1, and their classes 0 to 9."""
    images, labels = (gzip.decompress((Path(folder) / f"{part}-{what}.gz").read_bytes())
                      for what in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    pixels = torch.frombuffer(bytearray(images[16:]), dtype=torch.uint8).view(-1, 784)
    return torch.utils.data.TensorDataset(pixels.float() / 255, torch.tensor(list(labels[8:])))


def evaluate(model, test):
    """Loss and accuracy."""
    x, y = test.tensors
    with torch.no_grad():
        logits = model(x)
    return F.cross_entropy(logits, y), (logits.argmax(1) == y).float().mean()


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--lr", type=float, default=0.05)
    words.add_argument("--epochs", type=int, default=2)
    words.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    given = words.parse_args()

    gv.init()
    train, test = dataset(given.data, "train"), dataset(given.data, "t10k")
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 10))
    loader = torch.utils.data.DataLoader(train, gv.batch(64), sampler=gv.Sampler(train))
    optimizer = torch.optim.SGD(model.parameters(), lr=given.lr, momentum=0.9)
    gv.DistributedOptimizer(optimizer, model, evaluate=lambda model: evaluate(model, test))
    for epoch in gv.epochs(given.epochs):
        for x, y in gv.running(loader):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            gv.log(loss)
        print("epoch %d: test loss %.4f, accuracy %.4f" % (epoch + 1, *evaluate(model, test)))


if __name__ == "__main__":
    main()
