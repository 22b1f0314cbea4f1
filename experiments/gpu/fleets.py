#!/usr/bin/env python3
"""Fleets on one device: how much of an exchange is hidden behind the gradient, and a ring beside all-reduce.

    fleets.py GRAPEVINE [--set KEY=VALUE ...]      # --set for every run, as --set train.device=cpu

GRAPEVINE may be several words, as "env NAME=VALUE grapevine".

Prints tables in Markdown. Data of ring8.yaml: fashion-mnist/ beside this file, if it is there."""
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent


def run(grapevine, fleet, sets, extra):
    words = [*shlex.split(grapevine), "run", str(here / fleet), "--json"]
    for one in [*sets, *extra]:
        words += ["--set", one]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def seconds_per_round(grapevine, sets, extra, rounds=(100, 400)):
    """Of the rounds between a short run and a long one: what both have, start and end, drops out."""
    short, long = (run(grapevine, "overlap.yaml", sets, [*extra, f"stop.rounds={n}"])["seconds"] for n in rounds)
    return (long - short) / (rounds[1] - rounds[0])


def overlap(grapevine, extra):
    ways = (["algorithm=isolated"], ["algorithm.order=atc"], ["algorithm.order=lian"])
    times = [[seconds_per_round(grapevine, way, extra) for way in ways] for _ in range(3)]  # interleaved
    alone, after, beside = (statistics.median(column) for column in zip(*times))
    print("\nTwo peers over loopback, milliseconds per round\n")
    print("| gradient alone | gradient, then exchange | both at once | of the exchange hidden |\n|---|---|---|---|")
    print(f"| {alone * 1e3:.2f} | {after * 1e3:.2f} | {beside * 1e3:.2f} | {(after - beside) / (after - alone):.2f} |")


def ring_and_all_reduce(grapevine, extra):
    data = here / "fashion-mnist"
    extra = [*([f"data.dir={data}"] if data.is_dir() else []), *extra]
    print("\nEight peers on one device, ResNet-20, Fashion-MNIST\n")
    print("| algorithm | rounds | seconds | accuracy of the mean | MB sent per peer |\n|---|---|---|---|---|")
    for name, sets in (("D-PSGD, ring", []), ("ring all-reduce", ["algorithm=all-reduce"])):
        r = run(grapevine, "ring8.yaml", sets, extra)
        megabytes = r["sent_bytes"] / r["peers"] / 1e6
        print(f"| {name} | {r['rounds']} | {r['seconds']:.1f} | {r['accuracy']:.4f} | {megabytes:.0f} |", flush=True)


def main():
    grapevine, *rest = sys.argv[1:]
    if rest[::2] != ["--set"] * (len(rest) // 2) or len(rest) % 2:
        sys.exit(__doc__)
    overlap(grapevine, rest[1::2])
    ring_and_all_reduce(grapevine, rest[1::2])


main()
