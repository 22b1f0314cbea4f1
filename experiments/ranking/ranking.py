#!/usr/bin/env python3
"""Does the predictor rank graphs as the fleets do, and does the spectral gap?

usage: ranking.py [path to the grapevine binary] [quadratic|softmax ...]

For each graph the rate is tuned, once by the predictor and once by simulation, on one grid. Two processes of one thread
each. picture.py draws its tables.
"""
import concurrent.futures
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import call, sets, simulate, write_images  # noqa: E402

N = 4096
TOPOLOGIES = ["complete", "exponential", "hypercube", "torus", "grid", "ring", "path", "star"]
PROBLEMS = {
    "quadratic": {"rates": [0.01 * 2 ** (k / 2) for k in range(13)], "target": 1024 * 0.02, "plan": []},
    "softmax": {"rates": [0.003, 0.005, 0.008, 0.013, 0.02], "target": 0.55, "plan": ["--calibrate"]}}


def crossing(rows, target):
    """The round at which loss_local falls to the target, between the evaluations around it."""
    before = None
    for r in rows:
        loss = r["loss_local"]
        if loss is None:
            return math.inf
        if loss <= target:
            if before is None:
                return r["round"]
            share = (before["loss_local"] - target) / (before["loss_local"] - loss)
            return before["round"] + share * (r["round"] - before["round"])
        before = r
    return math.inf


def one(binary, problem, images, topology, rate):
    """The gap, the predicted and the measured rounds to the target at one rate."""
    spec, fleet = PROBLEMS[problem], os.path.join(HERE, problem + ".yaml")
    values = {"topology": topology, "train.optimizer.lr": rate}
    if problem == "softmax":
        values["data.dir"] = images
    plan, = call(binary, "plan", fleet, "--json", *sets(values), "--max-degree", "1",
                 "--target", str(spec["target"]), *spec["plan"], threads=1)
    predicted = plan["predicted"]["rounds_to_target"]
    rows = simulate(binary, fleet, values, "--threads", "1", threads=1)
    return (plan["gap"], math.inf if predicted is None else predicted,
            crossing(rows, spec["target"]))


def ranks(values):
    """Ties get the mean of their ranks."""
    return [sum(w < v for w in values) + (sum(w == v for w in values) - 1) / 2 for v in values]


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    cov = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return cov / math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))


def tuned(binary, problem, images, pool):
    jobs = {t: [pool.submit(one, binary, problem, images, t, rate) for rate in PROBLEMS[problem]["rates"]]
            for t in TOPOLOGIES}
    table = []
    for topology in TOPOLOGIES:
        results = [job.result() for job in jobs[topology]]
        best = [min((r[k], rate) for r, rate in zip(results, PROBLEMS[problem]["rates"])) for k in (1, 2)]
        table.append((topology, results[0][0], *best[0], *best[1]))
    return table


def report(problem, table):
    print(f"\n{problem}, target {PROBLEMS[problem]['target']:g}\n")
    print("| topology | gap | predicted rounds | at rate | measured rounds | at rate | % |")
    print("|---|---|---|---|---|---|---|")
    for topology, gap, p, p_rate, m, m_rate in sorted(table, key=lambda row: row[4]):
        print(f"| {topology} | {gap:.4f} | {p:.0f} | {p_rate:.3g} | {m:.0f} | {m_rate:.3g} | {100 * (p / m - 1):+.1f} |")
    measured = [row[4] for row in table]
    by_gap = spearman([-row[1] for row in table], measured)
    by_prediction = spearman([row[2] for row in table], measured)
    print(f"\nSpearman with the measured rounds: prediction {by_prediction:.3f}, gap {by_gap:.3f}", flush=True)


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "./grapevine"
    problems = sys.argv[2:] or list(PROBLEMS)
    with tempfile.TemporaryDirectory() as images, concurrent.futures.ThreadPoolExecutor(2) as pool:
        if "softmax" in problems:
            write_images(images, N)
        tables = {problem: tuned(binary, problem, images, pool) for problem in problems}
    for problem, table in tables.items():
        report(problem, table)


if __name__ == "__main__":
    main()
