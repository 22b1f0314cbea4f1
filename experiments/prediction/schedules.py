#!/usr/bin/env python3
"""The stationary state of simulated fleets whose graph changes with the round, beside the predictor.

usage: schedules.py [path to the grapevine binary] [peers ...]      prints the table of schedules.md
"""
import sys

from prediction import BURN_IN, COORDINATES, FLEET, lines, predicted

SCHEDULES = ["one-peer-exponential", "random-matching", "base:k=1"]
EVERY = 19  # rounds: meets every round of a period


def measured(binary, peers, schedule, order, spread):
    sets = [f"peers={peers}", f"topology={schedule}", f"algorithm.order={order}", f"data.spread={spread}",
            f"evaluate.every={EVERY} rounds"]
    rows = lines(binary, "simulate", FLEET, "--json", *[word for s in sets for word in ("--set", s)])
    rows = [r for r in rows if r["event"] == "evaluate" and r["round"] > BURN_IN]
    mean = lambda key: sum(r[key] for r in rows) / len(rows) / COORDINATES
    return [mean("consensus"), mean("loss"), mean("loss_local")]


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "./grapevine"
    print("| peers | schedule | order | spread | consensus: predicted, measured, % | mean model's excess "
          "| local models' excess |")
    print("|---|---|---|---|---|---|---|")
    worst = 0
    for peers in [int(n) for n in sys.argv[2:]] or [16, 64]:
        for schedule in SCHEDULES:
            for order in ["lian", "atc", "cta"]:
                for spread in [0, 1]:
                    p = predicted(binary, peers, schedule, order, spread)
                    m = measured(binary, peers, schedule, order, spread)
                    errors = [100 * (b / a - 1) for a, b in zip(p, m)]
                    worst = max([worst] + [abs(e) for e in errors])
                    cells = [f"{a:.5f} {b:.5f} {e:+.2f}" for a, b, e in zip(p, m, errors)]
                    print(f"| {peers} | {schedule} | {order} | {spread} | " + " | ".join(cells), "|",
                          flush=True)
    print(f"\nworst difference: {worst:.2f} %")


if __name__ == "__main__":
    main()
