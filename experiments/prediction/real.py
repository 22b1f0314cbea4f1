#!/usr/bin/env python3
"""Real models: `grapevine plan --calibrate` beside simulated fleets.

usage: real.py [path to the grapevine binary] [softmax|mlp ...] [--parts iid|by-label]
               [--peers 16,64] [--seeds 1,2,3] [--plans 1] [--processes 2]
               [--keep FOLDER [--have-only]]

Every seed is another draw of the minibatches, the first model and the parts; measured is the mean
over the seeds with its standard error, predicted the mean over the first --plans of them. --keep:
what a simulation measured is kept there and not simulated again; --have-only: the table of what is
there, and predictions. Fashion-MNIST from `dataset-fashion-mnist` (or FASHION_MNIST=folder): its
first 8192 images, as training and as test set, so that the reported loss is the training loss.
Processes of one thread each.
"""
import argparse
import concurrent.futures
import math
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import averages, call, kept, sets, simulate, write_images  # noqa: E402

FLEET = os.path.join(HERE, "real.yaml")
N = 8192
ROUNDS = 1500
FIRST = 900  # of the rounds that are averaged; they are predicted at their middle
TOPOLOGIES = ["ring", "torus", "hypercube", "star", "path", "exponential"]
ORDERS = ["lian", "atc", "cta"]
FIGURES = ["consensus", "mean", "local"]
MODELS = {"softmax": {"model": "softmax"},
          "mlp": {"model.kind": "mlp", "model.hidden": "[32]", "train.optimizer.lr": 0.005}}
PARTS = {"iid": {},
         "by-label": {"data.partition.kind": "by-label", "data.partition.classes_per_peer": 6}}


class Measurements:
    """Simulated fleets, and plans of them, by their settings."""

    def __init__(self, options, images):
        self.binary, self.images, self.keep = options.binary, {"data.dir": images}, options.keep
        self.have_only = options.have_only

    def simulated(self, name, values):
        """Consensus distance, loss, local loss; None where only what is there is wanted."""
        if self.have_only and not os.path.exists(os.path.join(self.keep, name + ".json")):
            return None

        def run():
            rows = simulate(self.binary, FLEET, {**self.images, **values}, "--threads", "1",
                            threads=1)
            return averages([r for r in rows if FIRST < r["round"] < ROUNDS])
        return kept(self.keep, name, run)

    def descent(self, model, seed):
        """Gradient descent on all images at once, at the same rate: a fleet of one."""
        return self.simulated(f"{model}-descent-{seed}",
                              {**MODELS[model], "peers": 1, "topology": "complete",
                               "train.batch": N, "seed": seed})

    def fleet(self, key, seed):
        return self.simulated("-".join(map(str, [*key, seed])), settings(*key, seed))

    def plan(self, key, seed):
        """The three predicted figures, and the calibration's seconds."""
        values = {**self.images, **settings(*key, seed), "stop.rounds": (FIRST + ROUNDS) // 2}
        plan, = call(self.binary, "plan", FLEET, "--json", "--calibrate", "--max-degree", "1",
                     *sets(values), threads=1)
        p = plan["predicted"]
        figures = [p["consensus"], p["excess_loss_mean"], p["excess_loss_local"]]
        return figures, plan["calibration"]["seconds"]


def settings(model, parts, peers, topology, order, seed):
    return {**MODELS[model], **PARTS[parts], "peers": peers, "topology": topology,
            "algorithm.order": order, "seed": seed}


def excess(fleet, base):
    return [fleet[0], fleet[1] - base[1], fleet[2] - base[1]]


def standard_error(values):
    """Of their mean; not a number for one value."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def cell(predicted, measured, error):
    text = f"{measured:.5f} ± {error:.5f}"
    if predicted is None:
        return f"unstable {text}"
    return f"{predicted:.5f} {text} {100 * (predicted / measured - 1):+.1f}"


def summary(name, errors):
    errors = [abs(e) for e in errors]
    print(f"{name}: median {statistics.median(errors):.1f} %, worst {max(errors):.1f} %, "
          f"{len(errors)} rows")


def report(rows):
    """rows: key, measured figures of each seed, predicted ones, seconds of a calibration."""
    print("| model | parts | peers | topology | order | seeds | consensus: predicted, measured ± "
          "its standard error, % | mean model's excess | local models' excess |")
    print("|---|---|---|---|---|---|---|---|---|")
    errors, took = {}, []
    for key, measured, predicted, seconds in rows:
        took.append(seconds)
        cells = []
        for what, p, values in zip(FIGURES, predicted, zip(*measured)):
            cells.append(cell(p, statistics.mean(values), standard_error(values)))
            if p is not None:
                percent = 100 * (p / statistics.mean(values) - 1)
                errors.setdefault((*key[:3], what), []).append(percent)
        print("| " + " | ".join([*map(str, key), str(len(measured)), *cells]) + " |", flush=True)
    print()
    for key, values in errors.items():
        summary(" ".join(map(str, key)), values)
    if took:
        print(f"calibrations of {min(took):.1f} .. {max(took):.1f} s")


def table(m, pool, keys, seeds, plans):
    """The rows of report(). Seed by seed: a run that is cut off has something of every row."""
    models = dict.fromkeys(key[0] for key in keys)
    bases = {}
    for model in models:
        first = pool.submit(m.descent, model, seeds[0])
        for seed in seeds:  # softmax begins at zero, whatever the seed
            same = model == "softmax" or seed == seeds[0]
            bases[model, seed] = first if same else pool.submit(m.descent, model, seed)
    fleets = {(key, seed): pool.submit(m.fleet, key, seed) for seed in seeds for key in keys}
    ahead = {(key, seed): pool.submit(m.plan, key, seed) for seed in seeds[:plans] for key in keys}
    for key in keys:
        pairs = [(fleets[key, seed].result(), bases[key[0], seed].result()) for seed in seeds]
        measured = [excess(fleet, base) for fleet, base in pairs if fleet and base]
        planned = [ahead[key, seed].result() for seed in seeds[:plans]]
        if measured and planned:
            figures = [None if None in each else statistics.mean(each)
                       for each in zip(*[p for p, _ in planned])]
            yield key, measured, figures, max(seconds for _, seconds in planned)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default="./grapevine")
    parser.add_argument("models", nargs="*", default=["softmax", "mlp"])
    parser.add_argument("--parts", default="iid,by-label")
    parser.add_argument("--peers", default="16,64")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--plans", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--have-only", action="store_true")
    o = parser.parse_args()
    with (tempfile.TemporaryDirectory() as images,
          concurrent.futures.ThreadPoolExecutor(o.processes) as pool):
        write_images(images, N)
        keys = [(model, parts, int(peers), topology, order)
                for model in o.models for parts in o.parts.split(",")
                for peers in o.peers.split(",")
                for topology in TOPOLOGIES for order in ORDERS]
        seeds = [int(s) for s in o.seeds.split(",")]
        report(table(Measurements(o, images), pool, keys, seeds, o.plans))


if __name__ == "__main__":
    main()
