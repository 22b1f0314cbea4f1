#!/usr/bin/env python3
"""Does the predictor rank graphs as the fleets do, and does the spectral gap?

usage: ranking.py [path to the grapevine binary] [quadratic|softmax ...] [--processes 2]
                  [--keep FOLDER]

For each graph the rate is tuned, once by the predictor and once by simulation, on one grid.
Processes of one thread each. --keep: what was measured is kept there and not simulated again.
picture.py draws its tables.
"""
import argparse
import concurrent.futures
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import call, kept, sets, simulate, write_images  # noqa: E402

N = 4096
TOPOLOGIES = ["complete", "exponential", "hypercube", "torus", "grid", "ring", "path", "star"]
PROBLEMS = {
    "quadratic": {"rates": [0.01 * 2 ** (k / 2) for k in range(13)], "target": 1024 * 0.02, "plan": []},
    "softmax": {"rates": [0.003, 0.005, 0.008, 0.013, 0.02], "target": 0.55, "plan": ["--calibrate"]}}
FLEETS = {problem: os.path.join(HERE, problem + ".yaml") for problem in PROBLEMS}


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


def settings(problem, images, topology, rate):
    values = {"topology": topology, "train.optimizer.lr": rate}
    return {**values, "data.dir": images} if problem == "softmax" else values


def measured_rounds(options, problem, images, topology, rate):
    def run():
        values = settings(problem, images, topology, rate)
        rows = simulate(options.binary, FLEETS[problem], values, "--threads", "1", threads=1)
        return crossing(rows, PROBLEMS[problem]["target"])
    return kept(options.keep, f"{problem}-{topology}-{rate:g}", run)


def planned_rounds(options, problem, images, topology, rate):
    """The gap, and the rounds that the predictor says."""
    spec = PROBLEMS[problem]
    plan, = call(options.binary, "plan", FLEETS[problem], "--json",
                 *sets(settings(problem, images, topology, rate)), "--max-degree", "1",
                 "--target", str(spec["target"]), *spec["plan"], threads=1)
    rounds = plan["predicted"]["rounds_to_target"]
    return plan["gap"], math.inf if rounds is None else rounds


def ranks(values):
    """Ties get the mean of their ranks."""
    return [sum(w < v for w in values) + (sum(w == v for w in values) - 1) / 2 for v in values]


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    cov = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return cov / math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))


def tuned(options, problem, images, pool):
    """Topology, gap, then rounds and rate as predicted, then as measured."""
    rates = PROBLEMS[problem]["rates"]
    fleets, plans = (
        {t: [pool.submit(what, options, problem, images, t, rate) for rate in rates]
         for t in TOPOLOGIES}
        for what in (measured_rounds, planned_rounds))
    table = []
    for topology in TOPOLOGIES:
        gaps, predicted = zip(*[job.result() for job in plans[topology]])
        measured = [job.result() for job in fleets[topology]]
        table.append((topology, gaps[0], *min(zip(predicted, rates)), *min(zip(measured, rates))))
    return table


def percent(predicted, measured):
    """Empty where the target was not reached."""
    return f"{100 * (predicted / measured - 1):+.1f}" if max(predicted, measured) < math.inf else ""


def report(problem, table):
    print(f"\n{problem}, target {PROBLEMS[problem]['target']:g}\n")
    print("| topology | gap | predicted rounds | at rate | measured rounds | at rate | % |")
    print("|---|---|---|---|---|---|---|")
    for topology, gap, p, p_rate, m, m_rate in sorted(table, key=lambda row: row[4]):
        cells = [f"{rounds:.0f} | {rate:.3g}" if rounds < math.inf else "inf | "
                 for rounds, rate in ((p, p_rate), (m, m_rate))]
        print(f"| {topology} | {gap:.4f} | {' | '.join(cells)} | {percent(p, m)} |")
    measured = [row[4] for row in table]
    by_gap = spearman([-row[1] for row in table], measured)
    by_prediction = spearman([row[2] for row in table], measured)
    print(f"\nSpearman with the measured rounds: prediction {by_prediction:.3f}, gap {by_gap:.3f}",
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default="./grapevine")
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep")
    o = parser.parse_args()
    with (tempfile.TemporaryDirectory() as images,
          concurrent.futures.ThreadPoolExecutor(o.processes) as pool):
        if "softmax" in o.problems:
            write_images(images, N)
        tables = {problem: tuned(o, problem, images, pool) for problem in o.problems}
    for problem, table in tables.items():
        report(problem, table)


if __name__ == "__main__":
    main()
