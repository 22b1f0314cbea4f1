#!/usr/bin/env python3
"""Real models: `grapevine plan --calibrate` beside simulated fleets.

usage: real.py [path to the grapevine binary] [softmax|mlp ...] [--parts iid|by-label]
               [--peers 16,64]

Fashion-MNIST from `dataset-fashion-mnist` (or FASHION_MNIST=folder): its first 8192 images, as
training and as test set, so that the reported loss is the training loss. Two processes of one
thread each.
"""
import argparse
import concurrent.futures
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import FIGURES, averages, call, sets, simulate, write_images  # noqa: E402

FLEET = os.path.join(HERE, "real.yaml")
N = 8192
ROUNDS = 1500
FIRST = 900  # of the rounds that are averaged; they are predicted at their middle
TOPOLOGIES = ["ring", "torus", "hypercube", "star", "path", "exponential"]
MODELS = {"softmax": {"model": "softmax"},
          "mlp": {"model.kind": "mlp", "model.hidden": "[32]", "train.optimizer.lr": 0.005}}
PARTS = {"iid": {},
         "by-label": {"data.partition.kind": "by-label", "data.partition.classes_per_peer": 6}}


def settled(binary, values):
    """Averages of one simulated run over the last rounds: consensus distance, loss, local loss."""
    rows = simulate(binary, FLEET, values, "--threads", "1", threads=1)
    return averages([r for r in rows if FIRST < r["round"] < ROUNDS])


def descent(binary, images, model):
    """Gradient descent on all images at once, at the same rate: the loss of a fleet of one."""
    values = {"data.dir": images, **MODELS[model], "peers": 1, "topology": "complete",
              "train.batch": N}
    return settled(binary, values)[1]


def row(binary, images, model, parts, peers, topology, order, base):
    """Three pairs of (predicted, measured) figures, and the calibration's seconds."""
    values = {"data.dir": images, **MODELS[model], **PARTS[parts],
              "peers": peers, "topology": topology, "algorithm.order": order}
    middle = {"stop.rounds": (FIRST + ROUNDS) // 2}
    plan, = call(binary, "plan", FLEET, "--json", "--calibrate", *sets({**values, **middle}),
                 threads=1)
    p = plan["predicted"]
    consensus, loss, loss_local = settled(binary, values)
    return [(p["consensus"], consensus),
            (p["excess_loss_mean"], loss - base),
            (p["excess_loss_local"], loss_local - base)], plan["calibration"]["seconds"]


def cell(pair):
    predicted, measured = pair
    if predicted is None:
        return f"unstable {measured:.5f}"
    return f"{predicted:.5f} {measured:.5f} {100 * (predicted / measured - 1):+.1f}"


def summary(name, errors):
    errors = [abs(e) for e in errors]
    if errors:
        print(f"{name}: median {statistics.median(errors):.1f} %, worst {max(errors):.1f} %, "
              f"{len(errors)} rows")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default="./grapevine")
    parser.add_argument("models", nargs="*", default=["softmax", "mlp"])
    parser.add_argument("--parts", default="iid,by-label")
    parser.add_argument("--peers", default="16,64")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as images, concurrent.futures.ThreadPoolExecutor(2) as pool:
        write_images(images, N)
        base = {model: pool.submit(descent, o.binary, images, model) for model in o.models}
        keys = [(model, parts, int(peers), topology, order)
                for model in o.models for parts in o.parts.split(",") for peers in o.peers.split(",")
                for topology in TOPOLOGIES for order in ["lian", "atc", "cta"]]
        jobs = [pool.submit(row, o.binary, images, *key, base[key[0]].result()) for key in keys]
        print(f"| model | parts | peers | topology | order | {FIGURES} |")
        print("|---|---|---|---|---|---|---|---|")
        errors = {}
        seconds = []
        for key, job in zip(keys, jobs):
            pairs, took = job.result()
            seconds.append(took)
            print("| " + " | ".join(map(str, key)) + " | " + " | ".join(map(cell, pairs)) + " |", flush=True)
            for what, (predicted, measured) in zip(["consensus", "mean", "local"], pairs):
                if predicted is not None:
                    errors.setdefault((*key[:3], what), []).append(100 * (predicted / measured - 1))
        print()
        for key, values in errors.items():
            summary(" ".join(map(str, key)), values)
        print(f"calibrations of {min(seconds):.1f} .. {max(seconds):.1f} s")


if __name__ == "__main__":
    main()
