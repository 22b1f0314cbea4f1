#!/usr/bin/env python3
"""Where linear regression settles, beside `grapevine plan`: noise that grows with the error.

usage: regression.py [path to the grapevine binary] [peers ...]
prints the table of regression.md
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import Comparison, averages, call, sets, simulate  # noqa: E402

FLEET = os.path.join(HERE, "regression.yaml")
BURN_IN = 300  # rounds
SEEDS = [1, 2, 3]
GRAPHS = ["ring", "torus", "one-peer-exponential", "random-matching"]
ROUNDS = {16: 6000, 64: 3000}


def settings(peers, graph, order, seed):
    rounds = ROUNDS.get(peers, 3000)
    return {"peers": peers, "topology": graph, "algorithm.order": order, "seed": seed,
            "stop.rounds": rounds, "data.train": 2 * peers * rounds}


def least_loss(binary, peers, seed):
    """The test set's loss at the optimum: of a fleet that comes to rest there, on large batches."""
    values = settings(peers, "ring", "lian", seed)
    del values["algorithm.order"]
    values.update({"algorithm": "all-reduce", "train.batch": 200, "stop.rounds": 500,
                   "train.optimizer.schedule": "cosine", "evaluate.every": "500 rounds"})
    return simulate(binary, FLEET, values)[-1]["loss"]


def measured(binary, peers, graph, order, least):
    evaluations = []
    for seed in SEEDS:
        for e in simulate(binary, FLEET, settings(peers, graph, order, seed)):
            if e["round"] > BURN_IN:
                excess = {key: e[key] - least[seed] for key in ("loss", "loss_local")}
                evaluations.append({"consensus": e["consensus"], **excess})
    return averages(evaluations)


def predicted(binary, peers, graph, order):
    plan, = call(binary, "plan", FLEET, "--json", *sets(settings(peers, graph, order, 1)))
    keys = ("consensus", "excess_loss_mean", "excess_loss_local")
    return [plan["predicted"][key] for key in keys]


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "./grapevine"
    table = Comparison("peers", "graph", "order")
    for peers in [int(n) for n in sys.argv[2:]] or [16, 64]:
        least = {seed: least_loss(binary, peers, seed) for seed in SEEDS}
        for graph in GRAPHS:
            for order in ["lian", "atc"]:
                key = (peers, graph, order)
                table.row(key, predicted(binary, *key), measured(binary, *key, least))
    table.end()


if __name__ == "__main__":
    main()
