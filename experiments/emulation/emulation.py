#!/usr/bin/env python3
"""Measured seconds per round on emulated networks, beside the alpha-beta model and `plan`.

usage: emulation.py GRAPEVINE [REPEATS]      prints the table of README.md
"""
import json
import os
import subprocess
import sys
import tempfile

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fleet.yaml")
PEERS, FLOATS = 8, 270_000
# latency [ms], bandwidth [Mbit/s], rounds of gossip and of all-reduce, repetitions
NETWORKS = [(0.1, 1000, 60, 60, 4), (1, 100, 16, 16, 1), (5, 10, 4, 4, 1), (5, 1000, 60, 20, 2)]
GOSSIP, ALL_REDUCE = "ring gossip", "ring all-reduce"


def settings(algorithm, latency, bandwidth, rounds):
    kind = "all-reduce" if algorithm == ALL_REDUCE else "{ kind: d-psgd, order: atc }"
    if algorithm == "isolated":
        kind = "isolated"
    values = {
        "algorithm": kind,
        "network.latency": f"{latency} ms",
        "network.bandwidth": f"{bandwidth} Mbit",
        "stop.rounds": rounds,
        "evaluate.every": f"{rounds // 2} rounds",
    }
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def call(grapevine, command, sets):
    done = subprocess.run([grapevine, command, FLEET, "--json", *sets], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured(grapevine, sets, folder, repeats):
    """Of the second half of a run; the least disturbed of several."""
    best = None
    for _ in range(repeats):
        lines = call(grapevine, "run", [*sets, "--set", f"output.dir={folder}/run"])
        half, end = [(e["round"], e["seconds"]) for e in lines if e["event"] == "evaluate"][:2]
        seconds = (end[1] - half[1]) / (end[0] - half[0])
        best = seconds if best is None else min(best, seconds)
    return best


def model(algorithm, latency, bandwidth, compute):
    """Seconds: compute + alpha + D M / B, or compute + 2 (n - 1) (alpha + M / (n B)) + sums.

    The sums of all-reduce copy a chunk out and add one at each hop, then scale: so many operations
    per float, at the speed of the gradient and step, which take 6.
    """
    alpha, transfer = latency * 1e-3, FLOATS * 4 * 8 / (bandwidth * 1e6)
    if algorithm == GOSSIP:
        return compute + alpha + 2 * transfer
    sums = compute * (2 * 2 * (PEERS - 1) / PEERS + 1) / 6
    return compute + sums + 2 * (PEERS - 1) * (alpha + transfer / PEERS)


def main():
    grapevine = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as folder:
        compute = measured(grapevine, settings("isolated", 0, 1000, 200), folder, 4 * repeats)
        print(f"compute: {1e3 * compute:.2f} ms per round (the same fleet, isolated)\n")
        print("| network | algorithm | model ms | plan ms | measured ms "
              "| measured / model | measured / plan |")
        print("|---|---|---|---|---|---|---|")
        for latency, bandwidth, *rounds, times in NETWORKS:
            for algorithm, n in zip((GOSSIP, ALL_REDUCE), rounds):
                sets = settings(algorithm, latency, bandwidth, n)
                real = measured(grapevine, sets, folder, repeats * times)
                expected = model(algorithm, latency, bandwidth, compute)
                plan = call(grapevine, "plan", sets)[0]["predicted"]["seconds_per_round"]
                print(f"| {bandwidth} Mbit/s, {latency} ms | {algorithm} | {1e3 * expected:.2f} "
                      f"| {1e3 * plan:.2f} | {1e3 * real:.2f} | {real / expected:.3f} "
                      f"| {real / plan:.3f} |", flush=True)


if __name__ == "__main__":
    main()
