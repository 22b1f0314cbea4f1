"""A script with all that a checkpoint must hold: workers that load, dropout, batch norms, Adam, a scheduler."""

import time

import torch

import grapevine.torch as gv

ROWS = 120
CLASSES = 3


def data():
    drawn = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, 6, generator=drawn)
    return torch.utils.data.TensorDataset(x, (x.sum(1) * 2).long() % CLASSES)


def main():
    gv.init()
    rows = data()
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(),
                                torch.nn.Dropout(0.3), torch.nn.Linear(16, CLASSES))
    loader = torch.utils.data.DataLoader(rows, gv.batch(8), sampler=gv.Sampler(rows), num_workers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.9)
    gv.DistributedOptimizer(optimizer, model, state=[scheduler])
    for _ in gv.epochs():
        for x, y in gv.running(loader):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            gv.log(loss)
            time.sleep(0.005)


main()
