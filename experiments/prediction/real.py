#!/usr/bin/env python3
"""Real models: `grapevine plan --calibrate` beside simulated fleets.

usage: real.py [path to the grapevine binary] [softmax|mlp ...] [--parts iid|by-label]
               [--peers 16,64] [--seeds 1,2,3] [--plans 1] [--processes 2]
               [--keep FOLDER [--have-only]] [--measured TABLE.md ...]

Every seed is another draw of the minibatches, the first model and the parts; measured is the mean
over the seeds with its standard error, predicted the mean over the first --plans of them. --keep:
what a simulation measured is kept there and not simulated again; --have-only: the table of what is
there, and predictions. --measured: the measured columns are those of tables that this script
printed, and only predictions are made again. One calibration serves all graphs and orders of a
seed. Fashion-MNIST from `dataset-fashion-mnist` (or FASHION_MNIST=folder): its
first 8192 images, as training and as test set, so that the reported loss is the training loss.
Processes of one thread each.
"""
import argparse
import concurrent.futures
import math
import os
import re
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
PREDICTED = ["consensus", "excess_loss_mean", "excess_loss_local", "excess_loss_mean_error"]
GOAL = {"softmax": 25, "mlp": 40}  # percent
CERTAIN = 0.1  # standard error over measured value, of rows that can tell
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

    def plans(self, group, seed):
        """Of model, parts and peers: by topology and order what is predicted, and the seconds."""
        def run():
            combinations = [(t, o) for t in TOPOLOGIES for o in ORDERS]
            values = {**self.images, **settings(*group, *combinations[0], seed),
                      "stop.rounds": (FIRST + ROUNDS) // 2}
            beside = [word for t, o in combinations
                      for word in ("--beside", f"topology={t} algorithm.order={o}")]
            plan, = call(self.binary, "plan", FLEET, "--json", "--calibrate", "--max-degree", "1",
                         *beside, *sets(values), threads=1)
            rows = [row["predicted"] for row in plan["beside"]]
            return [[*c, [p[name] for name in PREDICTED]] for c, p in zip(combinations, rows)]
        name = "-".join(map(str, ["plan", *group, seed]))
        return {(t, o): figures for t, o, figures in kept(self.keep, name, run)}


def settings(model, parts, peers, topology, order, seed):
    return {**MODELS[model], **PARTS[parts], "peers": peers, "topology": topology,
            "algorithm.order": order, "seed": seed}


def excess(fleet, base):
    return [fleet[0], fleet[1] - base[1], fleet[2] - base[1]]


def standard_error(values):
    """Of their mean; not a number for one value."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def cell(predicted, measured, error, small=False):
    text = f"{measured:.5f} ± {error:.5f}"
    if predicted is None:
        return f"unstable {text}"
    return f"{predicted:.5f}{'~' * small} {text} {100 * (predicted / measured - 1):+.1f}"


def summary(name, errors):
    errors = [abs(e) for e in errors]
    print(f"{name}: median {statistics.median(errors):.1f} %, worst {max(errors):.1f} %, "
          f"{len(errors)} rows")


class Count:
    """Of the rows that can tell: how many are within the goal."""

    def __init__(self):
        self.rows = self.certain = self.within = self.small = 0

    def add(self, goal, percent, certain, small):
        self.rows += 1
        self.certain += certain
        self.within += certain and abs(percent) <= goal
        self.small += certain and small and abs(percent) > goal

    def __str__(self):
        return (f"{self.certain} of {self.rows} rows have a standard error below "
                f"{100 * CERTAIN:.0f} %, {self.within} of these are within the goal, "
                f"{self.small} are beyond it and said to be too small to tell (~)")


def report(rows):
    """rows: key, seeds, measured figures with their standard errors, predicted figures."""
    print("| model | parts | peers | topology | order | seeds | consensus: predicted, measured ± "
          "its standard error, % | mean model's excess | local models' excess |")
    print("|---|---|---|---|---|---|---|---|---|")
    errors, counts = {}, {what: Count() for what in FIGURES}
    for key, seeds, measured, predicted in rows:
        cells = []
        small = predicted[1] is not None and abs(predicted[1]) < 4 * predicted[3]
        for what, p, (value, error) in zip(FIGURES, predicted, measured):
            cells.append(cell(p, value, error, small and what == "mean"))
            if p is not None:
                percent = 100 * (p / value - 1)
                errors.setdefault((*key[:3], what), []).append(percent)
                certain = error < CERTAIN * abs(value)
                counts[what].add(GOAL[key[0]], percent, certain, small and what == "mean")
        print("| " + " | ".join([*map(str, key), str(seeds), *cells]) + " |", flush=True)
    print()
    for key, values in errors.items():
        summary(" ".join(map(str, key)), values)
    for what, count in counts.items():
        print(f"{what}: {count}")


def read_tables(paths):
    """The measured columns: key -> seeds, (value, standard error) of each figure."""
    found = {}
    for path in paths:
        with open(path) as f:
            for line in f:
                cells = [c.strip() for c in line.strip().strip("|").split("|")]
                if len(cells) != 9 or cells[0] not in MODELS:
                    continue
                model, parts, peers, topology, order, seeds = cells[:6]
                # A single seed has no standard error; the consensus cell may leave it out.
                pairs = [re.match(r"\S+ (\S+)(?: ± (\S+))?", c).groups() for c in cells[6:]]
                measured = [(float(v), float(e) if e else math.nan) for v, e in pairs]
                found[model, parts, int(peers), topology, order] = int(seeds), measured
    return found


def simulated(m, pool, keys, seeds):
    """What read_tables reads, from fleets. Seed by seed: a run that is cut off has something of
    every row."""
    bases = {}
    for model in dict.fromkeys(key[0] for key in keys):
        first = pool.submit(m.descent, model, seeds[0])
        for seed in seeds:  # softmax begins at zero, whatever the seed
            same = model == "softmax" or seed == seeds[0]
            bases[model, seed] = first if same else pool.submit(m.descent, model, seed)
    fleets = {(key, seed): pool.submit(m.fleet, key, seed) for seed in seeds for key in keys}

    def of(key):
        pairs = [(fleets[key, seed].result(), bases[key[0], seed].result()) for seed in seeds]
        figures = [excess(fleet, base) for fleet, base in pairs if fleet and base]
        measured = [(statistics.mean(v), standard_error(v)) for v in zip(*figures)]
        return len(figures), measured
    return of


def table(m, pool, keys, seeds, plans, measured):
    """The rows of report()."""
    groups = dict.fromkeys(key[:3] for key in keys)
    ahead = {(g, seed): pool.submit(m.plans, g, seed) for g in groups for seed in seeds[:plans]}
    for key in keys:
        n, figures = measured(key)
        if not n:
            continue
        planned = [ahead[key[:3], seed].result()[key[3:]] for seed in seeds[:plans]]
        means = [None if None in each else statistics.mean(each) for each in zip(*planned)]
        yield key, n, figures, means


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
    parser.add_argument("--measured", nargs="+", default=[])
    o = parser.parse_args()
    with (tempfile.TemporaryDirectory() as images,
          concurrent.futures.ThreadPoolExecutor(o.processes) as pool):
        write_images(images, N)
        keys = [(model, parts, int(peers), topology, order)
                for model in o.models for parts in o.parts.split(",")
                for peers in o.peers.split(",")
                for topology in TOPOLOGIES for order in ORDERS]
        seeds = [int(s) for s in o.seeds.split(",")]
        m = Measurements(o, images)
        known = read_tables(o.measured)
        measured = (lambda key: known.get(key, (0, []))) if known else simulated(m, pool, keys, seeds)
        report(table(m, pool, keys, seeds, o.plans, measured))


if __name__ == "__main__":
    main()
