#!/usr/bin/env python3
"""The stationary state of simulated fleets beside `grapevine graph predict`.

usage: prediction.py [path to the grapevine binary] [peers ...]
"""
import json
import os
import subprocess
import sys

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fleet.yaml")
BURN_IN = 400  # rounds
COORDINATES = 2048  # of each curvature


def lines(*command):
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def predicted(binary, peers, topology, order, spread):
    row, = lines(binary, "graph", "predict", "--topology", topology, "--peers", str(peers), "--order", order,
                 "--hessian", "1,0.5,0.25,0.1", "--noise", "1", "--rate", "0.1", "--spread", str(spread))
    return [row["consensus"], row["excess_mean"], row["excess_local"]]


def measured(binary, peers, topology, order, spread):
    sets = [f"peers={peers}", f"topology={topology}", f"algorithm.order={order}", f"data.spread={spread}"]
    rows = lines(binary, "simulate", FLEET, "--json", *[word for s in sets for word in ("--set", s)])
    rows = [r for r in rows if r["event"] == "evaluate" and r["round"] > BURN_IN]
    mean = lambda key: sum(r[key] for r in rows) / len(rows) / COORDINATES
    return [mean("consensus"), mean("loss"), mean("loss_local")]


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "./grapevine"
    print("| peers | topology | order | spread | consensus: predicted, measured, % | mean model's excess "
          "| local models' excess |")
    print("|---|---|---|---|---|---|---|")
    worst = 0
    for peers in [int(n) for n in sys.argv[2:]] or [16, 64]:
        for topology in ["ring", "torus", "hypercube", "star", "path", "exponential", "grid"]:
            for order in ["lian", "atc", "cta"]:
                for spread in [0, 1]:
                    p = predicted(binary, peers, topology, order, spread)
                    m = measured(binary, peers, topology, order, spread)
                    errors = [100 * (b / a - 1) for a, b in zip(p, m)]
                    worst = max([worst] + [abs(e) for e in errors])
                    cells = [f"{a:.5f} {b:.5f} {e:+.2f}" for a, b, e in zip(p, m, errors)]
                    print(f"| {peers} | {topology} | {order} | {spread} | " + " | ".join(cells), "|",
                          flush=True)
    print(f"\nworst difference: {worst:.2f} %")


if __name__ == "__main__":
    main()
