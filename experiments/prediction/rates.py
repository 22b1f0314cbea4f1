#!/usr/bin/env python3
"""Rates that change, and momentum: `grapevine plan --calibrate` beside simulated fleets.

usage: rates.py [path to the grapevine binary] [--seeds 1,2] [--plans 1] [--processes 2]
                [--keep FOLDER]

Softmax on the first 2048 images of Fashion-MNIST, 16 peers. Measured and predicted at the same
rounds, the second half of the run, and averaged over them and over the seeds, with the standard
error that the seeds show; predicted from the first so many of them. Processes of one thread each.
"""
import argparse
import concurrent.futures
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import call, kept, sets, simulate, write_images  # noqa: E402

FLEET = os.path.join(HERE, "real.yaml")
N = 2048
ROUNDS = 1000
EVERY = ROUNDS // 20  # as the prediction's curve has it
SHARED = {"stop.rounds": ROUNDS, "evaluate.every": f"{EVERY} rounds"}
RATE = "train.optimizer"
KINDS = {
    "constant": {f"{RATE}.lr": 0.004},
    "cosine": {f"{RATE}.lr": 0.008, f"{RATE}.schedule": "cosine"},
    "step": {f"{RATE}.lr": 0.006,
             f"{RATE}.schedule": "{ kind: step, every: 600 steps, factor: 0.2 }"},
    "warm-up": {f"{RATE}.lr": 0.004, f"{RATE}.warmup": 400},
    "momentum": {f"{RATE}.lr": 0.0004, f"{RATE}.momentum": 0.9},
    "nesterov": {f"{RATE}.lr": 0.0004, f"{RATE}.momentum": 0.9, f"{RATE}.nesterov": "true"},
    "cosine, momentum": {f"{RATE}.lr": 0.0008, f"{RATE}.momentum": 0.9,
                         f"{RATE}.schedule": "cosine"},
}
FLEETS = [("ring", "lian"), ("torus", "atc")]
FIGURES = ["consensus", "loss", "loss_local"]


def late(rows):
    """The figures in the second half of the run, the mean over its rounds."""
    rows = [r for r in rows if r["round"] > ROUNDS // 2]
    return [statistics.mean(r[f] for r in rows) for f in FIGURES]


class Measurements:
    def __init__(self, options, images):
        self.binary, self.keep, self.images = options.binary, options.keep, {"data.dir": images}

    def simulated(self, name, values):
        def run():
            return late(simulate(self.binary, FLEET, {**self.images, **SHARED, **values},
                                 "--threads", "1", threads=1))
        return kept(self.keep, name.replace(" ", ""), run)

    def descent(self, kind):
        """A fleet of one with all images in each step; softmax begins at zero, whatever the seed."""
        return self.simulated(f"descent-{kind}", {**KINDS[kind], "peers": 1,
                                                  "topology": "complete", "train.batch": N})

    def fleet(self, kind, topology, order, seed):
        return self.simulated(f"{kind}-{topology}-{order}-{seed}",
                              {**KINDS[kind], "topology": topology, "algorithm.order": order,
                               "seed": seed})

    def plan(self, kind, topology, order, seed):
        values = {**self.images, **SHARED, **KINDS[kind], "topology": topology,
                  "algorithm.order": order, "seed": seed}

        def run():
            plan, = call(self.binary, "plan", FLEET, "--json", "--calibrate", "--max-degree", "1",
                         *sets(values), threads=1)
            curve = [r for r in plan["predicted"]["curve"] if r["round"] > ROUNDS // 2]
            return [statistics.mean(r[f] for r in curve)
                    for f in ("consensus", "excess_loss_mean", "excess_loss_local")]
        return kept(self.keep, f"plan-{kind}-{topology}-{order}-{seed}".replace(" ", ""), run)


def row(pool, m, kind, topology, order, seeds, plans):
    fleets = [pool.submit(m.fleet, kind, topology, order, seed) for seed in seeds]
    planned = [pool.submit(m.plan, kind, topology, order, seed) for seed in seeds[:plans]]
    base = pool.submit(m.descent, kind)
    return kind, topology, order, fleets, planned, base


def results(jobs):
    """By figure: what each seed gave."""
    return list(zip(*[job.result() for job in jobs]))


def error(values):
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default="./grapevine")
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--plans", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep")
    o = parser.parse_args()
    seeds = [int(s) for s in o.seeds.split(",")]
    print("| rates | topology | order | consensus: predicted, measured, its standard error, % | "
          "mean model's excess | local models' excess |")
    print("|---|---|---|---|---|---|", flush=True)
    with (tempfile.TemporaryDirectory() as images,
          concurrent.futures.ThreadPoolExecutor(o.processes) as pool):
        write_images(images, N)
        m = Measurements(o, images)
        rows = [row(pool, m, kind, *fleet, seeds, o.plans) for kind in KINDS for fleet in FLEETS]
        for kind, topology, order, fleets, plans, base in rows:
            loss = base.result()[1]
            measured = [statistics.mean(v) for v in results(fleets)]
            measured = [measured[0], measured[1] - loss, measured[2] - loss]
            errors = [error(v) for v in results(fleets)]
            planned = [statistics.mean(v) for v in results(plans)]
            cells = [f"{p:.2g} {v:.2g} ± {e:.1g} {100 * (p / v - 1):+.0f}"
                     for p, v, e in zip(planned, measured, errors)]
            print(f"| {kind} | {topology} | {order} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
