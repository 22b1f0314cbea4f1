"""Trains without an end and says each step; `stands` lets it stand still at a step, `workers` load its data, `only` is
how many steps it makes, without `running`.
"""

import json
import os
import sys
import time

import torch

import grapevine.torch as gv

given, = json.loads(sys.argv[1])
gv.init(given["fleet"], given["id"], meet=given["meet"])
mine = given["ways"][gv.rank()]


class Data(torch.utils.data.Dataset):
    """Rows that come for a while; then the workers, which fetch ahead, stand still for as long as they live."""

    def __len__(self):
        return 10**6

    def __getitem__(self, row):
        if mine.get("workers") and row >= 40:
            time.sleep(3600)
        return torch.full((3,), float(row % 7))


model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
gv.DistributedOptimizer(optimizer, model)
loader = torch.utils.data.DataLoader(Data(), 2, num_workers=mine.get("workers", 0))
batches = iter(loader)
if mine.get("workers"):
    child = os.fork()
    if child == 0:
        time.sleep(3600)
    print("workers", child, *[worker.pid for worker in batches._workers], flush=True)
for step, x in enumerate(batches if "only" in mine else gv.running(batches)):
    if step == mine.get("only"):
        break
    if step == mine.get("stands"):
        print("stands", flush=True)
        time.sleep(3600)
    optimizer.zero_grad()
    model(x).square().mean().backward()
    print("steps", step, flush=True)
    optimizer.step()
    if step == mine.get("fails"):
        raise RuntimeError("as a script fails")
print("rounds", gv.round(), flush=True)
