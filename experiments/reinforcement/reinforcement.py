#!/usr/bin/env python3
"""How soon do agents that learn together have solved their environment, and what does it cost?

Simulates the fleets of configs/cartpole*.yaml and their relatives, on CartPole and on Acrobot, with several seeds each,
until the return is the one at which the environment counts as solved. Prints a table for each environment as Markdown;
with --write it goes into README.md, and the curves become answer.svg. A run that is there is not run again.
"""
import argparse
import json
import math
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
import fleets  # noqa: E402
from curves import Panel, picture  # noqa: E402

PROGRAM = os.path.join(ROOT, "build", "release", "peer", "grapevine")
RUNS = os.path.join(ROOT, "runs", "reinforcement")
README = os.path.join(HERE, "README.md")

# What all have in common: a step of the environment takes 1 ms, a hop 0.2 ms on a network of 1 Gbit/s.
COMMON = {"agent.step_time": "1 ms", "network": "{ latency: 0.2 ms, bandwidth: 1 Gbit }"}
ENVIRONMENTS = {  # name: the return that solves it, and how many rounds it may take
    "cartpole": (475, 10000),
    "acrobot": (-100, 20000),
}
FLEETS = {  # name: the file in configs/, what is set beside it
    "alone": ("cartpole", {}),
    "isolated x 4": ("cartpole", {"peers": 4, "algorithm": "isolated"}),
    "GALA, lian": ("cartpole-gala4", {}),
    "GALA, ad-psgd": ("cartpole-gala4", {"algorithm": "ad-psgd"}),
    "all-reduce": ("cartpole-gala4", {"algorithm": "all-reduce"}),
    "Gorila, async": ("cartpole-gorila4", {}),
    "Gorila, downpour": ("cartpole-gorila4", {"algorithm": "downpour"}),
    **{f"Ape-X, {n} actor{'s' if n > 1 else ''}": ("cartpole-apex8", {"agent.actors": n}) for n in (1, 2, 4, 8)},
}
LOCAL = {"isolated x 4"}  # they have no model in common: the mean return of their own ones counts


def values_of(environment, fleet, seed):
    """The keys that are set beside the file of configs/."""
    solved, most = ENVIRONMENTS[environment]
    whose = ", of: local" if fleet in LOCAL else ""
    stop = f"{{ rounds: {most}, target: {{ return: {solved}{whose} }} }}"
    return {**COMMON, **FLEETS[fleet][1], "data.name": environment, "seed": seed, "stop": stop}


def simulated(program, environment, fleet, seed, folder):
    """The evaluations of a run and its summary, as the program tells them; kept in `folder`."""
    values = {key: str(value) for key, value in values_of(environment, fleet, seed).items()}
    config = os.path.join(ROOT, "configs", FLEETS[fleet][0] + ".yaml")
    with open(config) as f:
        what = {"file": f.read(), "values": values}
    name = f"{environment} {fleet} {seed}".replace(",", "").replace(" ", "-")

    def run():
        lines = fleets.call(program, "simulate", config, "--json", "--no-save", "--threads", "1",
                            *fleets.sets(values), threads=1, good=(0, 4))  # 4: the target was not reached
        return {**what, "evaluations": [line for line in lines if line["event"] == "evaluate"],
                "summary": lines[-1]}

    found = fleets.kept(folder, name, run)
    if {key: found.get(key) for key in what} != what:  # of another state of the fleets
        os.remove(os.path.join(folder, name + ".json"))
        found = fleets.kept(folder, name, run)
    return found


def return_of(evaluation, fleet):
    return evaluation["return_local" if fleet in LOCAL else "return"]


def first_solved(run, environment, fleet):
    """The first evaluation with the return that solves it; None: there is none."""
    solved = ENVIRONMENTS[environment][0]
    return next((e for e in run["evaluations"] if return_of(e, fleet) >= solved), None)


COSTS = {  # column: what an evaluation says of it
    "rounds": lambda e: e["round"],
    "frames": lambda e: e["frames"],
    "virtual seconds": lambda e: e["seconds"],
    "MB sent": lambda e: e["sent_bytes"] / 1e6,
}


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread(values, runs):
    """The median over all runs, those that never got there behind all others; and the range of those that did."""
    if not values:
        return "-"
    median = statistics.median(values + [math.inf] * (runs - len(values)))
    middle = short(median) if math.isfinite(median) else "-"
    return f"{middle} ({short(min(values))} .. {short(max(values))})"


def table(environment, results):
    """results: by fleet, the runs of all seeds. Markdown."""
    solved, most = ENVIRONMENTS[environment]
    lines = [f"{environment}, to a return of {solved} within {most:,} rounds:", "",
             "| fleet | solved | " + " | ".join(COSTS) + " |", "|---" * (2 + len(COSTS)) + "|"]
    for fleet, runs in results.items():
        there = [e for e in (first_solved(run, environment, fleet) for run in runs) if e]
        cells = [spread([cost(e) for e in there], len(runs)) for cost in COSTS.values()]
        lines.append(f"| {fleet} | {len(there)} of {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def median_run(environment, fleet, runs):
    """The run that is in the middle by its seconds to the return; who never got there comes last."""
    def seconds(run):
        there = first_solved(run, environment, fleet)
        return there["seconds"] if there else math.inf
    return sorted(runs, key=seconds)[(len(runs) - 1) // 2]


COLOURS = {
    "alone": "#222222", "isolated x 4": "#999999", "GALA, lian": "#2563a8", "GALA, ad-psgd": "#4fa3d9",
    "all-reduce": "#7b3fa0", "Gorila, async": "#2e8540", "Gorila, downpour": "#8bc34a", "Ape-X, 1 actor": "#f4c27a",
    "Ape-X, 2 actors": "#ef9a3d", "Ape-X, 4 actors": "#dd6b20", "Ape-X, 8 actors": "#a63603",
}
def panel(environment, results):
    """Return over virtual seconds: of each fleet its median run."""
    curves = {}
    for fleet, runs in results.items():
        run = median_run(environment, fleet, runs)
        curves[fleet] = [(e["seconds"], return_of(e, fleet)) for e in run["evaluations"] if e["seconds"] > 0]
    returns = [value for curve in curves.values() for _, value in curve]
    solved = ENVIRONMENTS[environment][0]
    least = min(*returns, 0 if environment == "cartpole" else -500)
    return Panel(f"{environment}: return of the median seed", curves, least, max(*returns, solved), solved, COLOURS)


def picture_of(results):
    return picture([panel(environment, of) for environment, of in results.items()])


def write(results, seeds):
    """The tables into README.md, the curves into answer.svg."""
    with open(os.path.join(HERE, "answer.svg"), "w") as f:
        f.write(picture_of(results))
    tables = "\n".join(table(environment, of) for environment, of in results.items())
    said = f"{seeds} seed{'s' if seeds > 1 else ''}; medians, and in brackets the range of those that were solved.\n\n"
    shown = "\n![Return over virtual seconds](answer.svg)\n"
    fleets.write_parts(README, {"answer": said + tables + shown})


def arguments(about):
    """What the scripts of this folder take alike."""
    words = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--seeds", type=int, default=10, metavar="N", help="seeds 1 to N (default: 10)")
    words.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                       help="simulations at a time (default: one for each processor)")
    words.add_argument("--runs", default=RUNS, metavar="FOLDER",
                       help="where runs are kept, and looked for (default: runs/reinforcement)")
    words.add_argument("--program", default=PROGRAM, metavar="FILE",
                       help="the program (default: build/release/peer/grapevine)")
    return words


def all_runs(options, wanted):
    """By environment and fleet, the runs of all seeds. wanted: pairs of the two."""
    os.makedirs(options.runs, exist_ok=True)
    jobs = [(environment, fleet, seed) for environment, fleet in wanted for seed in range(1, options.seeds + 1)]

    def one(job):
        run = simulated(options.program, *job, folder=options.runs)
        there = first_solved(run, job[0], job[1])
        print(f"{job[0]}, {job[1]}, seed {job[2]}: "
              + (f"round {there['round']}, {there['seconds']:.3g} s" if there else "not solved"), file=sys.stderr)
        return run

    with ThreadPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(one, jobs))
    results = {}
    for (environment, fleet, _), run in zip(jobs, runs):
        results.setdefault(environment, {}).setdefault(fleet, []).append(run)
    return results


def main():
    words = arguments(__doc__)
    words.add_argument("--only", action="append", metavar="WORD",
                       help="only fleets and environments in whose name (`cartpole/GALA, lian`) it is; may be repeated")
    words.add_argument("--write", action="store_true", help="into README.md and answer.svg, too")
    options = words.parse_args()
    every = [(environment, fleet) for environment in ENVIRONMENTS for fleet in FLEETS]
    wanted = [pair for pair in every
              if not options.only or any(word.lower() in "/".join(pair).lower() for word in options.only)]
    if not wanted:
        words.error("no fleet has such a name: " + "; ".join("/".join(pair) for pair in every))
    if options.write and wanted != every:
        words.error("--write tells of all of them: leave out --only")
    results = all_runs(options, wanted)
    print("\n".join(table(environment, of) for environment, of in results.items()))
    if options.write:
        write(results, options.seeds)


if __name__ == "__main__":
    main()
