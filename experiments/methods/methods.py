#!/usr/bin/env python3
"""What accuracy does each method reach with the same gradient steps, batches and seeds, and at what
cost on a slow network? Usage: methods.py GRAPEVINE [STEPS]"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fleets  # noqa: E402

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fleet.yaml")
H = 10  # gradient steps of a round of the local methods
PARTITIONS = {"iid": "iid", "by label": "{ kind: by-label, classes_per_peer: 2 }"}
EPOCH = 235  # gradient steps of a pass over 7,500 samples
LAZY = {"topology.weights": "lazy"}
OWN = {"train.local_steps": 1}  # the method counts the steps of a round itself
# The method, its steps in a round, what else is set. Momentum 0.9 at a tenth of the rate takes steps of about the same
# length.
ROWS = [
    ("isolated", 1, {}),
    ("{ kind: d-psgd, order: lian }", 1, {}),
    ("{ kind: d-psgd, order: atc }", 1, {}),
    ("{ kind: all-reduce, order: ring }", 1, {}),
    ("{ kind: all-reduce, order: ring }", 1, {"data.servers": 2}),
    ("{ kind: all-reduce, order: driver }", 1, {}),
    ("{ kind: all-reduce, order: doubling }", 1, {}),
    ("{ kind: all-reduce, order: hierarchical }", 1, {}),
    ("local-sgd", H, {}),
    ("{ kind: diloco, outer_lr: 0.7, outer_momentum: 0.5 }", H, {}),
    ("{ kind: slowmo, alpha: 1, beta: 0.5 }", H, {}),
    ("d2", 1, LAZY),
    ("{ kind: gossip-pga, every: 6 }", 1, {}),
    ("{ kind: d-psgd, order: atc }", 1, {"train.optimizer.momentum": 0.9, "train.optimizer.lr": 0.01}),
    ("{ kind: quasi-global-momentum, mu: 0.9 }", 1, {"train.optimizer.lr": 0.01}),
    ("gradient-tracking", 1, {}),
    ("{ kind: d-psgd, order: atc, codec: bf16 }", 1, {}),
    ("{ kind: d-psgd, order: atc, codec: int8 }", 1, {}),
    ("{ kind: choco-sgd, gamma: 1, codec: int8 }", 1, {}),
    ("{ kind: choco-sgd, gamma: 0.3, codec: { kind: top-k, fraction: 0.1 } }", 1, {}),
    ("{ kind: choco-sgd, gamma: 0.05, codec: { kind: top-k, fraction: 0.01 } }", 1, {}),
    ("{ kind: deep-squeeze, eta: 0.3, codec: { kind: top-k, fraction: 0.1 } }", 1, {}),
    ("{ kind: clipped-gossip, tau: 1 }", 1, {}),
    ("relay-sgd", 1, {"topology": "binary-tree"}),
    ("sgp", 1, {"topology": "exponential"}),
    ("ad-psgd", 1, {}),
    ("{ kind: parameter-server, order: sync }", 1, {}),
    ("{ kind: parameter-server, order: sync, servers: 4 }", 1, {}),
    ("{ kind: flexrr, slices: 8 }", 1, {}),
    ("{ kind: parameter-server, order: async }", 1, {"train.optimizer.lr": 0.0125}),
    ("{ kind: downpour, fetch: 5, push: 5 }", 1, {"train.optimizer.lr": 0.006}),
    ("{ kind: easgd, order: sync, alpha: 0.1, tau: 10 }", H, OWN),
    ("{ kind: easgd, order: async, alpha: 0.1, tau: 10 }", H, OWN),
    ("{ kind: fedavg, epochs: 1 }", EPOCH, OWN),
    ("{ kind: fedavg, fraction: 0.5, epochs: 1 }", EPOCH, OWN),
]


def summary(binary, values):
    return fleets.call(binary, "simulate", FLEET, "--json", "--no-save", "--threads", "1", *fleets.sets(values))[-1]


def main():
    binary = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print("| algorithm | set | rounds | " + " | ".join(PARTITIONS) + " | MB sent per peer | virtual time |")
    print("|---" * (5 + len(PARTITIONS)) + "|")
    for method, local_steps, more in ROWS:
        values = {"algorithm": method, "train.local_steps": local_steps, "stop.rounds": steps // local_steps, **more}
        cells = []
        for partition in PARTITIONS.values():
            last = summary(binary, dict(values, **{"data.partition": partition}))
            cells.append(f"{100 * last['accuracy']:.2f} %")
        said = ", ".join(f"{key if key.startswith('data') else key.split('.')[-1]} {value}" for key, value in more.items() if more is not OWN)
        print(f"| `{method}` | {said} | {steps // local_steps} | {' | '.join(cells)} | "
              f"{last['sent_bytes'] / 8e6:.1f} | {last['seconds']:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
