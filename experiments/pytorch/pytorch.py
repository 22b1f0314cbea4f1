#!/usr/bin/env python3
"""What a step of a PyTorch script costs: unconnected, as a peer of d-psgd on a ring, and under DDP over Gloo.

    pytorch.py [--peers 4] [--steps 300] [--blocks 5] [--cores 0]

An MLP 784-256-128-10 on random pictures, batch 64, plain SGD, one thread a process. A block runs the three ways one
after the other, so that what else the machine does meets all three; of each way the median over the blocks is printed,
with the least and the greatest. --cores names the cores that all processes share, as taskset takes them. The package
and the library are found as by any script: PYTHONPATH, GRAPEVINE_LIBRARY.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WAYS = ("unconnected", "d-psgd", "ddp")
WARM_UP = 20
FLEET = """version: 1
name: step
seed: 1
peers: {peers}
program: [python3, pytorch.py]
algorithm: {{ kind: d-psgd, order: lian }}
topology: ring
stop: {{ rounds: {rounds} }}
evaluate: {{ every: {rounds} rounds }}
output: {{ dir: "{folder}/out" }}
"""


def made(way, given):
    """Returns the model to call, and its optimizer."""
    import torch
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 10))
    if way == "d-psgd":
        import grapevine.torch as gv
        gv.init(f"{given['folder']}/fleet.yaml", given["id"], meet=f"{given['folder']}/meet")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        return model, gv.DistributedOptimizer(optimizer, model)
    if way == "ddp":
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        import torch.distributed as dist
        dist.init_process_group("gloo", init_method=f"file://{given['folder']}/meet", rank=given["id"],
                                world_size=given["peers"])
        model = torch.nn.parallel.DistributedDataParallel(model)
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def peer(way, given):
    """Trains, and prints seconds of the clock and of the processor for a step."""
    import torch
    torch.set_num_threads(1)
    model, optimizer = made(way, given)
    x, y = torch.randn(6400, 784), torch.randint(0, 10, (6400,))
    for k in range(WARM_UP + given["steps"]):
        if k == WARM_UP:
            began, used = time.perf_counter(), cpu()
        rows = slice(k % 100 * 64, k % 100 * 64 + 64)
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    steps = given["steps"]
    print(json.dumps([(time.perf_counter() - began) / steps, (cpu() - used) / steps]), flush=True)


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def block(way, given):
    """Runs all peers of a way; returns (seconds of the slowest one's step, mean of their processor's seconds)."""
    with tempfile.TemporaryDirectory() as folder:
        rounds = WARM_UP + given.steps + 1
        Path(folder, "fleet.yaml").write_text(FLEET.format(peers=given.peers, rounds=rounds, folder=folder))
        words = [{"folder": folder, "id": i, "peers": given.peers, "steps": given.steps} for i in range(given.peers)]
        running = [subprocess.Popen([sys.executable, "-W", "ignore", __file__, way, json.dumps(each)], text=True,
                                    stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"})
                   for each in words]
        said = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
    return max(wall for wall, _ in said), statistics.mean(used for _, used in said)


def line(way, blocks):
    """A row of the table, times in milliseconds."""
    cells = []
    for column in zip(*blocks):
        figures = sorted(1e3 * figure for figure in column)
        cells.append(f"{statistics.median(figures):.2f} [{figures[0]:.2f}-{figures[-1]:.2f}]")
    return f"| {way} | {' | '.join(cells)} |"


def main():
    if len(sys.argv) == 3 and sys.argv[1] in WAYS:
        return peer(sys.argv[1], json.loads(sys.argv[2]))
    words = argparse.ArgumentParser()
    words.add_argument("--peers", type=int, default=4)
    words.add_argument("--steps", type=int, default=300)
    words.add_argument("--blocks", type=int, default=5)
    words.add_argument("--cores")
    given = words.parse_args()
    if given.cores:
        os.sched_setaffinity(0, {int(core) for core in given.cores.split(",")})
    figures = {way: [] for way in WAYS}
    for _ in range(given.blocks):
        for way in WAYS:
            figures[way].append(block(way, given))
    print("| way | clock of a step, ms | processor of a step, ms |\n|---|---|---|")
    for way in WAYS:
        print(line(way, figures[way]))


if __name__ == "__main__":
    main()
