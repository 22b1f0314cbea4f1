#!/usr/bin/env python3
"""How well a PyTorch script learns as a peer, and under DDP over Gloo: Fashion-MNIST, the script of examples/pytorch.

    accuracy.py [--peers 4] [--epochs 3] [--seeds 1 2 3]

All ways take batches of 64 a process, SGD with momentum 0.9 and the same rate, from the first model of the seed. Of
d-psgd on a ring and of all-reduce the mean of the peers' models is evaluated; under DDP all have one. The program, the
package and the library are found as by any script: PATH, PYTHONPATH, GRAPEVINE_LIBRARY.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pytorch"
ROWS = {"d-psgd": "{kind: d-psgd, order: lian}", "all-reduce": "{kind: all-reduce}"}
WAYS = (*ROWS, "DDP over Gloo")


def ddp(rank, given):
    """Trains as one process of DDP; the first one prints the accuracy."""
    sys.path.insert(0, str(EXAMPLE))
    import alone
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{given['folder']}/meet", rank=rank, world_size=given["peers"])
    data = "/usr/share/datasets/fashion-mnist"
    train, test = alone.dataset(data, "train"), alone.dataset(data, "t10k")
    torch.manual_seed(given["seed"])
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 10))
    model = torch.nn.parallel.DistributedDataParallel(model)
    sampler = torch.utils.data.DistributedSampler(train, seed=given["seed"])
    loader = torch.utils.data.DataLoader(train, 64, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=given["lr"], momentum=0.9)
    for epoch in range(given["epochs"]):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    if rank == 0:
        print(json.dumps(float(alone.evaluate(model.module, test)[1])), flush=True)
    dist.destroy_process_group()


def under_ddp(given):
    """Returns the accuracy of the model that all processes end with."""
    words = [sys.executable, "-W", "ignore", __file__, "ddp"]
    running = [subprocess.Popen([*words, str(rank), json.dumps(given)], stdout=subprocess.PIPE, text=True)
               for rank in range(given["peers"])]
    said = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        sys.exit("a process of DDP failed; what it said stands above")
    return json.loads(said[0].splitlines()[-1])


def as_peers(row, given):
    """Returns the accuracy of the mean of the models that the peers end with."""
    program = [sys.executable, "train.py", "--epochs", str(given["epochs"]), "--lr", str(given["lr"])]
    keys = {"program": json.dumps(program), "algorithm": row, "peers": given["peers"], "seed": given["seed"],
            "output.dir": given["folder"] + "/run"}
    words = ["grapevine", "run", str(EXAMPLE / "fleet.yaml"), "--json"]
    for key, value in keys.items():
        words += ["--set", f"{key}={value}"]
    said = subprocess.run(words, cwd=EXAMPLE, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(said.splitlines()[-1])["accuracy"]


def main():
    if sys.argv[1:2] == ["ddp"]:
        return ddp(int(sys.argv[2]), json.loads(sys.argv[3]))
    words = argparse.ArgumentParser()
    words.add_argument("--peers", type=int, default=4)
    words.add_argument("--epochs", type=int, default=3)
    words.add_argument("--lr", type=float, default=0.05)
    words.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    given = words.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    found = {way: [] for way in WAYS}
    for seed in given.seeds:
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                each = {"folder": folder, "peers": given.peers, "epochs": given.epochs, "lr": given.lr, "seed": seed}
                found[way].append(100 * (as_peers(ROWS[way], each) if way in ROWS else under_ddp(each)))
    print(f"| way | accuracy after {given.epochs} epochs, % | mean |\n|---|---|---|")
    for way, accuracies in found.items():
        print(f"| {way} | {', '.join(f'{each:.2f}' for each in accuracies)} | {statistics.mean(accuracies):.2f} |")


if __name__ == "__main__":
    main()
