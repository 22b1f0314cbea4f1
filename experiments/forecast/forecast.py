#!/usr/bin/env python3
"""`grapevine plan` beside rounds that other people have measured with another program.

usage: forecast.py [path to the grapevine binary] [--measured TABLE.csv]
prints the table of results.md

A round is H local steps and the sum behind the last of them; of DDP it is a step. The program is
told how many peers and parameters there are, what the links are shaped to, and what a step computes
for on their devices. It is told nothing about how long a sum takes. Then it is told as well what
each kind of link carries, as who measures their own links knows: by one round of LocalSGD with one
step, which is no forecast any more.
"""
import argparse
import csv
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import call, sets  # noqa: E402

FLEET = os.path.join(HERE, "fleet.yaml")
METHODS = {"ddp": "all-reduce", "localsgd": "local-sgd", "diloco": "diloco"}
BANDWIDTHS = {"5g": 5000, "1g": 1000, "200m": 200, "50m": 50}  # Mbit/s
MEASURES_LINKS = ("localsgd", 1)
KNOWN_GFLOPS = 1  # with which a plan tells how much a step computes


def points(path):
    """Rows of one method, H and bandwidth, in the file's order; links without a limit are left out."""
    groups = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            if row["bandwidth"] in BANDWIDTHS:
                key = (row["algorithm"], int(row["H"]), row["bandwidth"])
                groups.setdefault(key, []).append(row)
    return groups


def median(rows, column):
    return statistics.median(float(row[column]) for row in rows) / 1e3


def measured_round(rows, steps):
    """Seconds of steps - 1 steps alone and of the one that ends with the sum."""
    alone = (steps - 1) * median(rows, "inner_step_ms") if steps > 1 else 0
    return alone + median(rows, "outer_step_ms")


def plan(binary, values):
    document, = call(binary, "plan", FLEET, "--json", *sets(values))
    return document["predicted"]


def forecast_round(binary, algorithm, steps, mbits, rows):
    """What plan says of a fleet whose step computes for as long as theirs."""
    values = {"peers": rows[0]["nodes"], "data.dimension": rows[0]["parameters"],
              "algorithm": METHODS[algorithm], "network.bandwidth": f"{mbits} Mbit"}
    if algorithm != "ddp":
        values["train.local_steps"] = steps
    known = plan(binary, {**values, "simulate.flops": f"{KNOWN_GFLOPS} GFLOP/s"})["compute_seconds"]
    gflops = KNOWN_GFLOPS * known / (steps * median(rows, "compute_ms"))
    return plan(binary, {**values, "simulate.flops": f"{gflops} GFLOP/s"})["seconds_per_round"]


def carried(binary, groups):
    """Mbit/s that each kind of link carries: what makes the forecast of one sum come true."""
    links = {}
    for bandwidth, shaped in BANDWIDTHS.items():
        rows = groups[(*MEASURES_LINKS, bandwidth)]
        computed = median(rows, "compute_ms")
        said = forecast_round(binary, *MEASURES_LINKS, shaped, rows) - computed
        links[bandwidth] = shaped * said / (measured_round(rows, 1) - computed)
    return links


def counted(name, found):
    near = sum(abs(ratio - 1) <= 0.15 for ratio in found)
    print(f"{name}: {near} of {len(found)} within 15 %, {min(found):.2f} to {max(found):.2f}, "
          f"median {statistics.median(found):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default="./grapevine")
    parser.add_argument("--measured", default=os.path.join(HERE, "measured.csv"))
    options = parser.parse_args()
    groups = points(options.measured)
    links = carried(options.binary, groups)
    print("| method | steps of a round | link, Mbit/s | measured s | forecast s | forecast / measured "
          "| link measured, Mbit/s | forecast s | forecast / measured |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    shaped, measured = {}, {}
    for (algorithm, steps, bandwidth), rows in groups.items():
        took = measured_round(rows, steps)
        line = f"| {algorithm} | {steps} "
        for table, link in ((shaped, BANDWIDTHS), (measured, links)):
            said = forecast_round(options.binary, algorithm, steps, link[bandwidth], rows)
            if table is shaped or (algorithm, steps) != MEASURES_LINKS:
                table.setdefault(algorithm, []).append(said / took)
            line += f"| {link[bandwidth]:.4g} " + (f"| {took:.3f} " if table is shaped else "")
            line += f"| {said:.3f} | {said / took:.3f} "
        print(line + "|", flush=True)
    print()
    for name, table in (("as shaped", shaped), ("links measured", measured)):
        for algorithm, found in table.items():
            counted(f"{algorithm}, {name}", found)


if __name__ == "__main__":
    main()
