#!/usr/bin/env python3
"""What is left of a fleet of 32 peers in half an hour of kills, cuts and stops.

usage: storm.py [METHOD ...] [--minutes 30] [--undisturbed 3] [--keep FOLDER]

METHOD: one of those below; default: all, one after the other. The schedule (schedule.csv) is a
published one, see README.md. Prints a Markdown table. --minutes: only so much of the schedule;
--undisturbed: minutes of the run without faults that it is compared with; --keep: run folders stay
there, and what has ended is not run again.
"""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import kept, sets  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(ROOT, "build", "release", "peer", "grapevine")
FLEET = os.path.join(HERE, "fleet.yaml")
PEERS = 32
ONE_STEP = {"train.local_steps": "1"}  # of rows that take one between two exchanges
METHODS = {
    "d-psgd": {},
    "ad-psgd": {"algorithm": "ad-psgd", **ONE_STEP},
    "noloco": {"algorithm": "noloco", "topology": "random-matching"},
    "streaming-diloco": {"algorithm": "streaming-diloco"},
    "all-reduce": {"algorithm": "all-reduce", **ONE_STEP},
}
ENDS = {"stop": "cont", "partition": "heal"}  # what ends a fault


def schedule(minutes):
    """(second, fault, peer, how long); a fault that the schedule's end cuts off lasts until it."""
    end = 60 * minutes
    with open(os.path.join(HERE, "schedule.csv"), newline="") as f:
        rows = [(float(r["seconds"]), r["fault"], int(r["peer"])) for r in csv.DictReader(f)]
    faults = []
    for at, fault, peer in rows:
        if at >= end or fault in ENDS.values():
            continue
        over = [t for t, what, who in rows if t > at and who == peer and what == ENDS.get(fault)]
        faults.append((at, fault, peer, min(over + [end]) - at))
    return faults


def plans(values):
    short = sets(values | {"stop": "{ rounds: 1 }"})  # its forecast takes less time
    return subprocess.run([PROGRAM, "plan", FLEET, "--json", *short], capture_output=True).returncode == 0


def linked(values, peer):
    """Whom it can be cut off from: the program refuses to cut what is not there."""
    def is_linked(other):
        return plans(values | {"faults.inject": f"[{{ at: 1 s, cut: [{peer}, {other}], for: 1 s }}]"})
    others = [k for k in range(PEERS) if k != peer]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [k for k, found in zip(others, pool.map(is_linked, others)) if found]


def injected(values, faults):
    """`faults.inject` of the schedule for a fleet with these keys."""
    neighbours = {peer: linked(values, peer) for _, fault, peer, _ in faults if fault == "partition"}
    lines = []
    for at, fault, peer, length in faults:
        if fault == "kill_safe":
            lines.append(f"{{ at: {at} s, kill: {peer} }}")
        elif fault == "stop":
            lines.append(f"{{ at: {at} s, stop: {peer}, for: {length:.1f} s }}")
        else:
            lines += [f"{{ at: {at} s, cut: [{peer}, {k}], for: {length:.1f} s }}" for k in neighbours[peer]]
    return f"[{', '.join(lines)}]"


def seconds_back(lines):
    """From each kill to the first neighbour that speaks of the new process; infinite where none does."""
    back = []
    for at, line in lines:
        killed = re.search(r"faults.inject: peer (\d+) is killed", line)
        if killed:
            peer = killed.group(1)
            times = [t for t, text in lines if t >= at and f"peer {peer} is back as a new process" in text]
            back.append(min(times) - at if times else float("inf"))
    return back


def run(values, folder):
    """Summary, evaluations, and what stderr said when."""
    process = subprocess.Popen([PROGRAM, "run", FLEET, "--json", *sets(values | {"output.dir": folder})],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, OMP_NUM_THREADS="1"))
    lines = []
    reader = threading.Thread(target=lambda: lines.extend((time.monotonic(), text.rstrip()) for text in process.stderr))
    reader.start()
    code = process.wait()
    reader.join()
    with open(os.path.join(folder, "metrics.jsonl")) as f:
        evaluations = [e for e in map(json.loads, f) if e["event"] == "evaluate"]
    with open(os.path.join(folder, "summary.json")) as f:
        summary = json.load(f)
    audit = subprocess.run([PROGRAM, "audit", folder], capture_output=True, text=True)
    return {"code": code, "summary": summary, "back": seconds_back(lines),
            "pace": evaluations[-1]["samples"] / evaluations[-1]["training_seconds"],
            "audit": audit.stdout.strip().splitlines()[-1] if audit.returncode in (0, 4) else "no books"}


def taken_part(summary):
    """The share of the fleet's rounds that a peer did not pass over, on average."""
    passed = sum(summary["passed_over"].values())
    return 1 - passed / (len(summary["passed_over"]) * summary["rounds"])


def row(name, options, folder):
    values = METHODS[name]
    calm = kept(folder, f"{name}-calm", lambda: run(
        values | {"stop": f"{{ time: {60 * options.undisturbed:g} s }}"}, os.path.join(folder, f"{name}-calm")))
    faults = schedule(options.minutes)
    storm = kept(folder, f"{name}-storm", lambda: run(
        values | {"stop": f"{{ time: {60 * options.minutes:g} s }}", "faults.inject": injected(values, faults)},
        os.path.join(folder, f"{name}-storm")))
    back = storm["back"] or [float("nan")]
    summary = storm["summary"]
    return (f"| {name} | {summary['rounds']} | {100 * storm['pace'] / calm['pace']:.1f} % | "
            f"{100 * taken_part(summary):.1f} % | {statistics.median(back):.1f} s, {max(back):.1f} s | "
            f"{summary['loss']:.3f} | {100 * summary['accuracy']:.2f} % | {storm['audit']} | {storm['code']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=list(METHODS), metavar="METHOD")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--undisturbed", type=float, default=3)
    parser.add_argument("--keep")
    options = parser.parse_args()
    unknown = [name for name in options.methods if name not in METHODS]
    if unknown:
        parser.error(f"unknown method {unknown[0]}; there are {', '.join(METHODS)}")
    folder = options.keep or tempfile.mkdtemp(prefix="storm-")
    os.makedirs(folder, exist_ok=True)
    kinds = [fault for _, fault, _, _ in schedule(options.minutes)]
    print(f"{kinds.count('kill_safe')} kills, {kinds.count('partition')} cuts and {kinds.count('stop')} stops "
          f"in {options.minutes:g} minutes\n")
    print("| method | rounds | pace, of undisturbed | take part in a round | back after: median, worst | loss | "
          "accuracy | books | exit |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in options.methods:
        print(row(name, options, folder), flush=True)


if __name__ == "__main__":
    main()
