#!/usr/bin/env python3
"""What do many virtual peers of one process cost? Two simulations of one fleet, and whether they end alike.

    PYTHONPATH=python GRAPEVINE_LIBRARY=build/release/libgrapevine.so \\
      python3 experiments/pytorch/simulate.py [--peers 64] [--rounds 20]
"""
import argparse
import resource
import time

import torch
import torch.nn.functional as F

import grapevine.torch as gv


def train():
    gv.init()
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    gv.DistributedOptimizer(optimizer, model)
    batches = [(torch.randn(64, 784), torch.randint(10, (64,))) for _ in range(4)]
    for _ in gv.epochs():
        for x, y in gv.running(batches):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            gv.log(loss)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--peers", type=int, default=64)
    words.add_argument("--rounds", type=int, default=20)
    given = words.parse_args()
    torch.set_num_threads(1)
    fleet = {"peers": given.peers, "seed": 1, "algorithm": "d-psgd", "topology": "ring",
             "stop": {"rounds": given.rounds}, "evaluate": {"every": f"{given.rounds} rounds"}}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2):
        began, processor = time.monotonic(), time.process_time()
        end = gv.simulate(fleet, train, step=0.001)
        print(f"{given.peers} peers, {end['rounds']} rounds: {time.monotonic() - began:.1f} s, "
              f"{time.process_time() - processor:.1f} s of the processor, {end['params_hash']}")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"memory {most / 1024:.0f} MiB at most, {before / 1024:.0f} before")


if __name__ == "__main__":
    main()
