#!/usr/bin/env python3
"""Real models: `grapevine plan --calibrate` beside simulated fleets.

usage: real.py [path to the grapevine binary] [softmax|mlp ...] [--parts iid|by-label] [--peers 16,64]

Fashion-MNIST from `dataset-fashion-mnist` (or FASHION_MNIST=folder): its first 8192 images, as training and as test
set, so that the reported loss is the training loss. Two processes of one thread each.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import struct
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGES = os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist")
N = 8192
ROUNDS = 1500
FIRST = 900  # of the rounds that are averaged; they are predicted at their middle
TOPOLOGIES = ["ring", "torus", "hypercube", "star", "path", "exponential"]
MODELS = {"softmax": ["model=softmax"],
          "mlp": ["model.kind=mlp", "model.hidden=[32]", "train.optimizer.lr=0.005"]}
PARTS = {"iid": [], "by-label": ["data.partition.kind=by-label", "data.partition.classes_per_peer=6"]}


def write_images(folder):
    def part(name, magic, header, size):
        with gzip.open(os.path.join(IMAGES, f"train-{name}-ubyte.gz")) as f:
            body = f.read()[header:header + N * size]
        for prefix in ["train", "t10k"]:
            with open(os.path.join(folder, f"{prefix}-{name}-ubyte"), "wb") as out:
                out.write(magic + body)
    part("images-idx3", struct.pack(">IIII", 0x803, N, 28, 28), 16, 28 * 28)
    part("labels-idx1", struct.pack(">II", 0x801, N), 8, 1)


def lines(*command):
    # Without this, idle threads of OpenMP would disturb the other process.
    env = dict(os.environ, OMP_NUM_THREADS="1")
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True, env=env)
    return [json.loads(line) for line in out.stdout.splitlines()]


def run(binary, command, sets):
    return lines(binary, command, os.path.join(HERE, "real.yaml"), "--json",
                 *(["--calibrate"] if command == "plan" else ["--threads", "1"]),
                 *[word for s in sets for word in ("--set", s)])


def averages(rows):
    rows = [r for r in rows if r["event"] == "evaluate" and FIRST < r["round"] < ROUNDS]
    return {key: sum(r[key] for r in rows) / len(rows) for key in ["consensus", "loss", "loss_local"]}


def descent(binary, images, model):
    """Gradient descent on all images at once, at the same rate: a fleet of one."""
    sets = [f"data.dir={images}", *MODELS[model], "peers=1", "topology=complete", f"train.batch={N}"]
    return averages(run(binary, "simulate", sets))["loss"]


def row(binary, images, model, parts, peers, topology, order, base):
    sets = [f"data.dir={images}", *MODELS[model], *PARTS[parts],
            f"peers={peers}", f"topology={topology}", f"algorithm.order={order}"]
    plan, = run(binary, "plan", sets + [f"stop.rounds={(FIRST + ROUNDS) // 2}"])
    p = plan["predicted"]
    m = averages(run(binary, "simulate", sets))
    return [(p["consensus"], m["consensus"]),
            (p["excess_loss_mean"], m["loss"] - base),
            (p["excess_loss_local"], m["loss_local"] - base)], plan["calibration"]["seconds"]


def cell(pair):
    predicted, measured = pair
    if predicted is None:
        return f"unstable {measured:.5f}"
    return f"{predicted:.5f} {measured:.5f} {100 * (predicted / measured - 1):+.1f}"


def summary(name, errors):
    errors = sorted(abs(e) for e in errors)
    if errors:
        print(f"{name}: median {errors[len(errors) // 2]:.1f} %, worst {errors[-1]:.1f} %, {len(errors)} rows")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default="./grapevine")
    parser.add_argument("models", nargs="*", default=["softmax", "mlp"])
    parser.add_argument("--parts", default="iid,by-label")
    parser.add_argument("--peers", default="16,64")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as images, concurrent.futures.ThreadPoolExecutor(2) as pool:
        write_images(images)
        base = {model: pool.submit(descent, o.binary, images, model) for model in o.models}
        keys = [(model, parts, int(peers), topology, order)
                for model in o.models for parts in o.parts.split(",") for peers in o.peers.split(",")
                for topology in TOPOLOGIES for order in ["lian", "atc", "cta"]]
        jobs = [pool.submit(row, o.binary, images, *key, base[key[0]].result()) for key in keys]
        print("| model | parts | peers | topology | order | consensus: predicted, measured, % | mean model's excess "
              "| local models' excess |")
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
