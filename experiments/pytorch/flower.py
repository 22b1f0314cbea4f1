#!/usr/bin/env python3
"""What do as many clients of Flower's simulation cost as simulate.py has virtual peers?

    flower.py [--peers 64] [--rounds 20]        # after: pip install "flwr[simulation]"

The same MLP and batches: in each round every client takes one step from the server's model, which becomes the mean.
Memory is what this process and all that it has started have to themselves, with their part of what they share, looked
at five times a second.
"""
import argparse
import os
import threading
import time
from pathlib import Path


def client(context):
    import torch
    from flwr.client import NumPyClient
    torch.set_num_threads(1)

    class Client(NumPyClient):
        def fit(self, parameters, config):
            torch.manual_seed(int(context.node_config["partition-id"]))
            model = network()
            with torch.no_grad():
                for p, values in zip(model.parameters(), parameters):
                    p.copy_(torch.from_numpy(values.copy()))
            x, y = torch.randn(64, 784), torch.randint(10, (64,))
            torch.nn.functional.cross_entropy(model(x), y).backward()
            torch.optim.SGD(model.parameters(), lr=0.05).step()
            return [p.detach().numpy() for p in model.parameters()], 64, {}

    return Client().to_client()


def network():
    import torch
    return torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                               torch.nn.Linear(128, 10))


def server(given):
    from flwr.common import ndarrays_to_parameters
    from flwr.server import ServerAppComponents, ServerConfig
    from flwr.server.strategy import FedAvg
    first = ndarrays_to_parameters([p.detach().numpy() for p in network().parameters()])
    strategy = FedAvg(fraction_fit=1, fraction_evaluate=0, min_fit_clients=given.peers,
                      min_available_clients=given.peers, initial_parameters=first)
    return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=given.rounds))


def family():
    """Returns the ids of this process and of all that descend from it."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue    # it has ended
    mine = {os.getpid()}
    while more := {p for p, of in parents.items() if of in mine} - mine:
        mine |= more
    return mine


def memory():
    """Returns MiB."""
    total = 0
    for process in family():
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue    # it has ended
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def watch(most, over):
    while not over.wait(0.2):
        most.append(memory())


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--peers", type=int, default=64)
    words.add_argument("--rounds", type=int, default=20)
    given = words.parse_args()
    from flwr.client import ClientApp
    from flwr.server import ServerApp
    from flwr.simulation import run_simulation
    network()   # what torch itself takes is there before
    before, most, over = memory(), [], threading.Event()
    watcher = threading.Thread(target=watch, args=(most, over))
    watcher.start()
    began = time.monotonic()
    try:
        run_simulation(server_app=ServerApp(server_fn=lambda context: server(given)),
                       client_app=ClientApp(client_fn=client), num_supernodes=given.peers,
                       backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0}})
    finally:
        over.set()
        watcher.join()
    print(f"{given.peers} clients, {given.rounds} rounds: {time.monotonic() - began:.1f} s, memory {max(most):.0f} MiB "
          f"at most, {before:.0f} before")


if __name__ == "__main__":
    main()
