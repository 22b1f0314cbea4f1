#!/usr/bin/env python3
"""Training steps per second and peer of PyTorch, n processes of one thread each on this machine.

usage: torch_training.py softmax|mlp ddp|gossip|independent PEERS STEPS

ddp: DistributedDataParallel over Gloo; gossip: isend and irecv with both neighbours of a ring and
the mean after every step; independent: no communication. Prints the figure of the slowest process.
"""
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

MODELS = {
    "softmax": (32, lambda: nn.Linear(784, 10)),
    "mlp": (64, lambda: nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128),
                                      nn.ReLU(), nn.Linear(128, 10))),
}


def average_with_neighbors(model, rank, n):
    """x <- (x + left + right) / 3, as one vector."""
    x = torch.cat([p.data.view(-1) for p in model.parameters()])
    left, right = torch.empty_like(x), torch.empty_like(x)
    previous, following = (rank - 1) % n, (rank + 1) % n
    for work in [dist.irecv(left, previous, tag=0), dist.irecv(right, following, tag=1),
                 dist.isend(x, following, tag=0), dist.isend(x, previous, tag=1)]:
        work.wait()
    x.add_(left).add_(right).div_(3)
    done = 0
    for p in model.parameters():
        p.data.copy_(x[done:done + p.numel()].view_as(p))
        done += p.numel()


def train(rank, name, way, n, steps, meeting, barrier, seconds):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    batch, make = MODELS[name]
    torch.manual_seed(0)
    model = make()
    if way != "independent":
        dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=n)
    net = nn.parallel.DistributedDataParallel(model) if way == "ddp" else model
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    x, y = torch.randn(60000 // n, 784), torch.randint(0, 10, (60000 // n,))
    batches = len(x) // batch

    def step(k):
        rows = slice(k % batches * batch, k % batches * batch + batch)
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        optimizer.step()
        if way == "gossip":
            average_with_neighbors(model, rank, n)

    for k in range(20):
        step(k)
    barrier.wait()
    began = time.perf_counter()
    for k in range(steps):
        step(k)
    seconds[rank] = time.perf_counter() - began
    barrier.wait()
    if way != "independent":
        dist.destroy_process_group()


def main():
    name, way, n, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    context = mp.get_context("fork")
    barrier, seconds = context.Barrier(n), context.Array("d", n)
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        processes = [context.Process(target=train, args=(rank, name, way, n, steps, meeting,
                                                         barrier, seconds)) for rank in range(n)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    if any(process.exitcode != 0 for process in processes):
        sys.exit(1)
    print(steps / max(seconds))


if __name__ == "__main__":
    main()
