#!/usr/bin/env python3
"""Measured seconds per round on emulated networks, beside the alpha-beta model and `plan`.

usage: emulation.py GRAPEVINE [REPEATS]      prints the tables of README.md
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fleet.yaml")
PEERS, FLOATS = 8, 270_000
# latency [ms], bandwidth [Mbit/s], rounds of a run, repetitions
NETWORKS = [(0.1, 1000, 60, 5), (1, 100, 18, 2), (5, 10, 6, 1), (5, 1000, 60, 3)]
GOSSIP, ONE_PEER, MATCHING = "ring gossip", "one-peer exponential", "random matching"
ALL_REDUCE = "ring all-reduce"
ALGORITHMS = [GOSSIP, ONE_PEER, MATCHING, ALL_REDUCE]
# plan's names
NAMES = {GOSSIP: "ring", ONE_PEER: "one-peer-exponential", MATCHING: "random-matching:seed=1",
         ALL_REDUCE: "all-reduce"}


def settings(algorithm, latency, bandwidth, rounds):
    kind = "all-reduce" if algorithm == ALL_REDUCE else "{ kind: d-psgd, order: atc }"
    if algorithm == "isolated":
        kind = "isolated"
    graph = NAMES.get(algorithm, "ring")
    values = {
        "algorithm": kind,
        "topology": "ring" if graph == "all-reduce" else graph,
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
    """Seconds per round over the second half of a run: the median of several, and the least."""
    all_seconds = []
    for _ in range(repeats):
        lines = call(grapevine, "run", [*sets, "--set", f"output.dir={folder}/run"])
        half, end = [(e["round"], e["seconds"]) for e in lines if e["event"] == "evaluate"][:2]
        all_seconds.append((end[1] - half[1]) / (end[0] - half[0]))
    return statistics.median(all_seconds), min(all_seconds)


def rounds_to(grapevine, algorithm, target):
    """The first round whose local models' mean loss is at the target: the same bits as in a run."""
    sets = settings(algorithm, 0, 1000, 100) + ["--set", "evaluate.every=1 rounds"]
    for e in call(grapevine, "simulate", [*sets, "--no-save"]):
        if e["event"] == "evaluate" and e["loss_local"] <= target:
            return e["round"]
    return None


def model(algorithm, latency, bandwidth, compute):
    """Seconds: compute + alpha + D M / B, or compute + 2 (n - 1) (alpha + M / (n B)) + sums.

    The sums of all-reduce copy a chunk out and add one at each hop, then scale: so many operations
    per float, at the speed of the gradient and step, which take 6.
    """
    alpha, transfer = latency * 1e-3, FLOATS * 4 * 8 / (bandwidth * 1e6)
    if algorithm == GOSSIP:
        return compute + alpha + 2 * transfer
    if algorithm in (ONE_PEER, MATCHING):
        return compute + alpha + transfer
    sums = compute * (2 * 2 * (PEERS - 1) / PEERS + 1) / 6
    return compute + sums + 2 * (PEERS - 1) * (alpha + transfer / PEERS)


def main():
    grapevine = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    choices = []
    with tempfile.TemporaryDirectory() as folder:
        _, compute = measured(grapevine, settings("isolated", 0, 1000, 200), folder, 8 * repeats)
        print(f"compute: {1e3 * compute:.2f} ms per round (the same fleet, isolated)\n")
        print("| network | algorithm | model ms | plan ms | measured ms | least ms | measured / model "
              "| measured / plan |")
        print("|---|---|---|---|---|---|---|---|")
        for latency, bandwidth, rounds, times in NETWORKS:
            seconds = {}
            for algorithm in ALGORITHMS:
                sets = settings(algorithm, latency, bandwidth, rounds)
                real, least = measured(grapevine, sets, folder, repeats * times)
                seconds[algorithm] = real
                expected = model(algorithm, latency, bandwidth, compute)
                plan = call(grapevine, "plan", sets)[0]["predicted"]["seconds_per_round"]
                print(f"| {bandwidth} Mbit/s, {latency} ms | {algorithm} | {1e3 * expected:.2f} "
                      f"| {1e3 * plan:.2f} | {1e3 * real:.2f} | {1e3 * least:.2f} "
                      f"| {real / expected:.3f} | {real / plan:.3f} |", flush=True)
            plan = call(grapevine, "plan", settings(GOSSIP, latency, bandwidth, rounds))[0]
            choices.append((f"{bandwidth} Mbit/s, {latency} ms", plan, seconds))
    rounds = {a: rounds_to(grapevine, a, choices[0][1]["target"]) for a in ALGORITHMS}
    print("\n| network | " + " | ".join(f"{a} s" for a in ALGORITHMS)
          + " | plan's choice | its seconds by plan | measured / best |")
    print("|---|" + "---|" * (len(ALGORITHMS) + 3))
    for network, plan, seconds in choices:
        total = {a: seconds[a] * rounds[a] for a in ALGORITHMS}
        choice = plan["choice"]["topology"]
        chosen = next((total[a] for a in ALGORITHMS if NAMES[a] == choice), float("nan"))
        print(f"| {network} | " + " | ".join(f"{total[a]:.3f}" for a in ALGORITHMS)
              + f" | {choice} | {plan['choice']['predicted']['seconds_to_target']:.3f} "
              f"| {chosen / min(total.values()):.3f} |")
    print("\nrounds to the target: " + ", ".join(f"{a} {rounds[a]}" for a in ALGORITHMS))


if __name__ == "__main__":
    main()
