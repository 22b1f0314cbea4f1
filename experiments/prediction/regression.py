#!/usr/bin/env python3
"""Where linear regression settles, beside `grapevine plan`: noise that grows with the error.

usage: regression.py [path to the grapevine binary] [peers ...]      prints the table of regression.md
"""
import os
import sys

from prediction import lines

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "regression.yaml")
BURN_IN = 300  # rounds
SEEDS = [1, 2, 3]
GRAPHS = ["ring", "torus", "one-peer-exponential", "random-matching"]
ROUNDS = {16: 6000, 64: 3000}


def sets_of(values):
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def settings(peers, graph, order, seed):
    rounds = ROUNDS.get(peers, 3000)
    return {"peers": peers, "topology": graph, "algorithm.order": order, "seed": seed, "stop.rounds": rounds,
            "data.train": 2 * peers * rounds}


def least_loss(binary, peers, seed):
    """The test set's loss at the optimum: of a fleet that comes to rest there, on large batches."""
    values = settings(peers, "ring", "lian", seed)
    del values["algorithm.order"]
    values.update({"algorithm": "all-reduce", "train.batch": 200, "stop.rounds": 500,
                   "train.optimizer.schedule": "cosine", "evaluate.every": "500 rounds"})
    return lines(binary, "simulate", FLEET, "--json", *sets_of(values))[-1]["loss"]


def measured(binary, peers, graph, order, least):
    rows = []
    for seed in SEEDS:
        sets = sets_of(settings(peers, graph, order, seed))
        for r in lines(binary, "simulate", FLEET, "--json", *sets):
            if r["event"] == "evaluate" and r["round"] > BURN_IN:
                rows.append([r["consensus"], r["loss"] - least[seed], r["loss_local"] - least[seed]])
    return [sum(column) / len(rows) for column in zip(*rows)]


def predicted(binary, peers, graph, order):
    plan, = lines(binary, "plan", FLEET, "--json", *sets_of(settings(peers, graph, order, 1)))
    return [plan["predicted"][key] for key in ("consensus", "excess_loss_mean", "excess_loss_local")]


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "./grapevine"
    print("| peers | graph | order | consensus: predicted, measured, % | mean model's excess "
          "| local models' excess |")
    print("|---|---|---|---|---|---|")
    worst = 0
    for peers in [int(n) for n in sys.argv[2:]] or [16, 64]:
        least = {seed: least_loss(binary, peers, seed) for seed in SEEDS}
        for graph in GRAPHS:
            for order in ["lian", "atc"]:
                p = predicted(binary, peers, graph, order)
                m = measured(binary, peers, graph, order, least)
                errors = [100 * (b / a - 1) for a, b in zip(p, m)]
                worst = max([worst] + [abs(e) for e in errors])
                cells = [f"{a:.5f} {b:.5f} {e:+.2f}" for a, b, e in zip(p, m, errors)]
                print(f"| {peers} | {graph} | {order} | " + " | ".join(cells), "|", flush=True)
    print(f"\nworst difference: {worst:.2f} %")


if __name__ == "__main__":
    main()
