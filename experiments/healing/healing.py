#!/usr/bin/env python3
"""Is a fleet of each method as fast and as good as before, once an accident is over?

    healing.py virtual [ROW...]    eleven accidents on each graph that a row takes, in virtual time
    healing.py real [ROW...]       a peer stands still, is cut off, is killed: processes over TCP

ROW is a name of `grapevine algorithms`; default: all. Prints a Markdown table.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLEET = os.path.join(HERE, "fleet.yaml")
PROGRAM = os.path.join(ROOT, "build", "release", "peer", "grapevine")
GRAPHS = {  # name: what is set
    "ring": {"topology": "{ kind: ring, weights: lazy }"},
    "binary tree": {"topology": "{ kind: binary-tree, weights: lazy }"},
    "exponential": {"topology": "{ kind: exponential }"},
    "one-peer exponential": {"topology": "{ kind: one-peer-exponential }"},
    "random matching": {"topology": "random-matching"},
}
COMPLETE = {"topology": "complete"}  # for what leaves out more neighbours than those graphs give it
VIRTUAL = {"network.emulate": "false"}
SPARSE = {"data": "{ kind: sparse, train: 3000, test: 600, features: 2000, nonzeros: 10 }", "model": "logistic"}
OWN_KEYS = {  # what a method cannot do without, and a rate with which it does not diverge by itself
    "hogwild": SPARSE,
    "downpour": {"train.optimizer.lr": "0.005"},
    "gt-adam": {"train.optimizer.lr": "0.002"},
    "decentlam": {"train.optimizer.lr": "0.005"},
}
VICTIM = 1
AT, LENGTH, SETTLE, END = 4, 8, 12, 36  # seconds: the accident, how long, until pace is measured
AT_ONCE = 4  # real fleets side by side


def rows():
    done = subprocess.run([PROGRAM, "algorithms", "--json"], capture_output=True, text=True, check=True)
    return [row for row in json.loads(done.stdout)["rows"] if row["kind"] != "isolated"]  # nothing to heal


def name_of(row):
    return f"{row['kind']}:{row['order']}" if row.get("order") else row['kind']


def sets(values):
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def algorithm(row):
    order = f", order: {row['order']}" if row.get("order") else ""
    return {"algorithm": f"{{ kind: {row['kind']}{order} }}", **OWN_KEYS.get(row["kind"], {})}


def first_line(text):
    return re.sub(r"^.*?error: ", "", text.strip().splitlines()[0]) if text.strip() else "it ended without a word"


def hash_after_rounds(values):
    """What a fleet with these keys holds after five rounds; None: it is refused."""
    done = subprocess.run([PROGRAM, "simulate", FLEET, "--no-save", "--json", *sets(values), *sets(VIRTUAL),
                           "--set", "stop={ rounds: 5 }"], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[-1]["params_hash"] if lines and "params_hash" in lines[-1] else None


def graphs_of(row):
    """The graphs that it takes and that make a difference to it: what knows no graph has one fleet."""
    taken, alike = {}, False
    for name, values in GRAPHS.items():
        hashed = hash_after_rounds(algorithm(row) | values)
        alike = alike or hashed in taken
        if hashed is not None:
            taken.setdefault(hashed, (name, values))
    if not taken:
        return {"complete": COMPLETE}
    if alike or row["kind"] == "hogwild":  # whose threads meet by chance
        return {"any": next(iter(taken.values()))[1]}
    return dict(taken.values())


def in_virtual_time(row, values):
    done = subprocess.run([PROGRAM, "simulate", FLEET, "--faults", "heal", "--json",
                           *sets(algorithm(row) | values | VIRTUAL)],
                          capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    healings = [line for line in lines if line["event"] == "healing"]
    if not healings:
        raise SystemExit(f"{name_of(row)} {values}: {first_line(done.stderr)}")
    return healings


def virtual(chosen):
    print("| method | graph | accidents | pace | not healed |\n|---|---|---|---|---|", flush=True)
    jobs = [(row, graph, values) for row in chosen for graph, values in graphs_of(row).items()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (row, graph, _), healings in zip(jobs, pool.map(lambda job: in_virtual_time(job[0], job[2]), jobs)):
            borne = [h for h in healings if not h["refused"]]
            wounds = [f"{h['accident']}: {text}" for h in borne for text in h["texts"]]
            paces = [h["pace"] for h in borne]
            print(f"| {name_of(row)} | {graph} | {len(borne)} | {min(paces):.2f} to {max(paces):.2f} "
                  f"| {'; '.join(wounds)} |", flush=True)


def neighbours(values):
    """Whom the victim is linked with: the program refuses to cut what is not there."""
    most = 12  # peers and servers
    return [k for k in range(most) if k != VICTIM and hash_after_rounds(values | {"faults.inject": f"[{cut(k)}]"})]


def cut(k):
    return f"{{ at: {AT} s, cut: [{VICTIM}, {k}], for: {LENGTH} s }}"


def accidents(linked):
    """What `faults.inject` says of each."""
    return {
        "freeze": [f"{{ at: {AT} s, stop: {VICTIM}, for: {LENGTH} s }}"],
        "cut": [cut(k) for k in linked],
        "kill": [f"{{ at: {AT} s, kill: {VICTIM} }}"],
    }


def one_run(row, values, inject):
    """Rounds a second at the end, loss and distance of the models there, and the exit code."""
    folder = tempfile.mkdtemp(prefix="healing-")
    try:
        keys = algorithm(row) | values | {"output.dir": f"{folder}/run"}
        if inject:
            keys["faults.inject"] = f"[{', '.join(inject)}]"
        done = subprocess.run([PROGRAM, "run", FLEET, "--json", *sets(keys)], capture_output=True, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS="1"))
        records = []
        if os.path.exists(f"{folder}/run/metrics.jsonl"):
            with open(f"{folder}/run/metrics.jsonl") as f:
                records = [r for r in map(json.loads, f) if r.get("event") == "evaluate"]
        end = [r for r in records if r["seconds"] >= AT + LENGTH + SETTLE]
        if len(end) < 2:
            return {"code": done.returncode, "said": first_line(done.stderr)}
        first, last = end[0], end[-1]
        loss, consensus = (sorted(r[key] for r in end)[len(end) // 2] for key in ("loss", "consensus"))
        pace = (last["round"] - first["round"]) / (last["seconds"] - first["seconds"])
        return {"code": done.returncode, "pace": pace, "loss": loss, "consensus": consensus}
    finally:
        shutil.rmtree(folder)


def real(chosen):
    print("| method | accident | pace | loss, undisturbed | apart, undisturbed | exit |\n|---|---|---|---|---|---|",
          flush=True)
    jobs = []
    for row in chosen:
        values = next(iter(graphs_of(row).values()))
        linked = neighbours(algorithm(row) | values)
        jobs += [(row, values, "", [])] + [(row, values, *item) for item in accidents(linked).items()]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        undisturbed = None
        for (row, _, accident, _), seen in zip(jobs, pool.map(lambda j: one_run(j[0], j[1], j[3]), jobs)):
            if not accident:
                undisturbed = seen
            elif "pace" not in seen or "pace" not in undisturbed:
                print(f"| {name_of(row)} | {accident} | | | | {seen['code']}: {seen['said']} |", flush=True)
            else:
                print(f"| {name_of(row)} | {accident} | {seen['pace'] / undisturbed['pace']:.2f} "
                      f"| {seen['loss']:.3f}, {undisturbed['loss']:.3f} "
                      f"| {seen['consensus']:.2g}, {undisturbed['consensus']:.2g} | {seen['code']} |", flush=True)


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("virtual", "real"):
        sys.exit(__doc__.strip())
    chosen = [row for row in rows() if not sys.argv[2:] or name_of(row) in sys.argv[2:]]
    {"virtual": virtual, "real": real}[sys.argv[1]](chosen)


main()
