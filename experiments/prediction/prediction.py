#!/usr/bin/env python3
"""The stationary state of simulated fleets beside `grapevine graph predict`.

usage: prediction.py [path to the grapevine binary] [peers ...]
prints the table of results.md
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import Comparison, averages, call, simulate  # noqa: E402

BURN_IN = 400  # rounds
COORDINATES = 2048  # of each curvature


def predicted(binary, peers, topology, order, spread):
    row, = call(binary, "graph", "predict", "--json", "--topology", topology, "--peers", str(peers),
                "--order", order, "--hessian", "1,0.5,0.25,0.1", "--noise", "1", "--rate", "0.1",
                "--spread", str(spread))
    return [row["consensus"], row["excess_mean"], row["excess_local"]]


def measured(binary, peers, topology, order, spread, every):
    values = {"peers": peers, "topology": topology, "algorithm.order": order,
              "data.spread": spread, "evaluate.every": f"{every} rounds"}
    evaluations = simulate(binary, os.path.join(HERE, "fleet.yaml"), values)
    means = averages([e for e in evaluations if e["round"] > BURN_IN])
    return [mean / COORDINATES for mean in means]


def compare(what, topologies, every):
    """Prints one table for the command line's binary and peers; `what` heads the topologies."""
    binary = sys.argv[1] if len(sys.argv) > 1 else "./grapevine"
    table = Comparison("peers", what, "order", "spread")
    for peers in [int(n) for n in sys.argv[2:]] or [16, 64]:
        for topology in topologies:
            for order in ["lian", "atc", "cta"]:
                for spread in [0, 1]:
                    key = (peers, topology, order, spread)
                    table.row(key, predicted(binary, *key), measured(binary, *key, every))
    table.end()


if __name__ == "__main__":
    compare("topology", ["ring", "torus", "hypercube", "star", "path", "exponential", "grid"],
            every=20)
