#!/usr/bin/env python3
"""What is claimed of agents, each claim with its figures.

    return     at least 8 of 10 seeds of each of four fleets have solved CartPole (475) within 10,000 rounds
    actors     8 actors are there at least 5 times sooner than 1, at the same samples_per_insert
    bundles    4 bundles of one step do at least 2.5 times the rounds a second of one of four
    ratio      samples_per_insert is what the fleet file asks for, within 2 %, whoever is 8 times faster
    speed      50,000 steps of CartPole a second with an MLP 128-128 on one thread, and at most 50 us for a
               prioritized draw of 64 from 1e6 (`grapevine bench agent`); on a machine that does nothing else
    tcp        the same four fleets over TCP: 3 of 3 seeds (real processes, some minutes each); and their ratio

Without a name: all that is simulated, which are the first four. Runs are shared with reinforcement.py. Prints Markdown,
and ends with 1 if a claim does not hold.
"""
import os
import statistics
import sys
import tempfile

import reinforcement
from reinforcement import ROOT, first_solved, fleets

FOUR = ["alone", "GALA, lian", "Gorila, async", "Ape-X, 8 actors"]
SOON, FAST, NEAR = 5, 2.5, 0.02  # times sooner, times the rounds a second, of what was asked for
STEPS, MICROS = 50000, 50


def config(name):
    return os.path.join(ROOT, "configs", name + ".yaml")


def say(claim, holds):
    print(f"**{claim}**: {'holds' if holds else 'DOES NOT HOLD'}\n", flush=True)
    return holds


def rounds_text(run, fleet):
    there = first_solved(run, "cartpole", fleet)
    return f"{there['round']:,}" if there else "-"


def solves(options):
    results = reinforcement.all_runs(options, [("cartpole", fleet) for fleet in FOUR])["cartpole"]
    print("| fleet | solved | rounds of seeds 1, 2, ... |\n|---|---|---|")
    least = round(0.8 * options.seeds)
    holds = True
    for fleet, runs in results.items():
        count = sum(first_solved(run, "cartpole", fleet) is not None for run in runs)
        holds = holds and count >= least
        print(f"| {fleet} | {count} of {len(runs)} | {', '.join(rounds_text(run, fleet) for run in runs)} |")
    print()
    return say(f"a return of 475 in at least {least} of {options.seeds} seeds of each", holds)


def actors(options):
    names = ["Ape-X, 1 actor", "Ape-X, 8 actors"]
    results = reinforcement.all_runs(options, [("cartpole", fleet) for fleet in names])["cartpole"]
    print("| fleet | samples_per_insert | median seconds to 475 |\n|---|---|---|")
    medians = []
    for fleet, runs in results.items():
        there = [first_solved(run, "cartpole", fleet) for run in runs]
        medians.append(statistics.median(e["seconds"] if e else float("inf") for e in there))
        ratios = [run["summary"]["samples_per_insert"] for run in runs]
        print(f"| {fleet} | {min(ratios):.2f} .. {max(ratios):.2f} | {medians[-1]:.3g} |")
    sooner = medians[0] / medians[1]  # nan where neither is there
    print(f"\n8 actors are there {sooner:.2f} times sooner than 1.\n")
    return say(f"at least {SOON} times sooner", sooner >= SOON)


def rounds_a_second(options, name, values):
    last = fleets.call(options.program, "simulate", config(name), "--json", "--no-save", "--threads", "1",
                       *fleets.sets({**reinforcement.COMMON, "stop": "{ rounds: 500 }", **values}), threads=1)[-1]
    return last["rounds"] / last["seconds"]


def bundles(options):
    one = rounds_a_second(options, "cartpole", {"agent.steps": 4})
    four = rounds_a_second(options, "cartpole-gala4", {"agent.steps": 1})
    print("| fleet | steps of each for a gradient | rounds a virtual second |\n|---|---|---|")
    print(f"| one bundle | 4 | {one:.1f} |\n| four bundles | 1 | {four:.1f} |\n\nThat is {four / one:.2f} times.\n")
    return say(f"at least {FAST} times the rounds", four >= FAST * one)


SPEEDS = {  # who is how fast beside the usual
    "as usual": {},
    "arithmetic 8 times slower: actors wait": {"simulate.flops": "6.25 GFLOP/s"},
    "arithmetic 8 times faster: the learner waits": {"simulate.flops": "400 GFLOP/s"},
    "environments 8 times slower: the learner waits": {"agent.step_time": "8 ms"},
    "environments 8 times faster: actors wait": {"agent.step_time": "0.125 ms"},
}


def ratio_of(lines):
    return lines[-1]["samples_per_insert"] / 16


def ratio(options):
    print("| speeds | samples_per_insert |\n|---|---|")
    worst = 0
    for name, values in SPEEDS.items():
        found = ratio_of(fleets.call(
            options.program, "simulate", config("cartpole-apex8"), "--json", "--no-save", "--threads", "1",
            *fleets.sets({**reinforcement.COMMON, "stop": "{ rounds: 2000 }", **values}), threads=1))
        worst = max(worst, abs(found - 1))
        print(f"| {name} | {16 * found:.3f} of 16 |", flush=True)
    print()
    return say("within 2 % of what is asked for", worst <= NEAR)


def tcp(options):
    """One fleet at a time: its processes share this machine."""
    print("| fleet over TCP | seeds solved | samples_per_insert |\n|---|---|---|")
    holds = True
    for fleet in FOUR:
        name, values = reinforcement.FLEETS[fleet]
        solved, ratios = 0, []
        for seed in (1, 2, 3):
            with tempfile.TemporaryDirectory() as folder:
                lines = fleets.call(options.program, "run", config(name), "--json", "--set", f"output.dir={folder}/run",
                                    *fleets.sets({**values, "seed": seed}), good=(0, 4))
            solved += any(line.get("return", 0) >= 475 for line in lines if line["event"] == "evaluate")
            if "samples_per_insert" in lines[-1]:
                ratios.append(ratio_of(lines))
        holds = holds and solved == 3 and all(abs(found - 1) <= NEAR for found in ratios)
        print(f"| {fleet} | {solved} of 3 | {', '.join(f'{16 * found:.3f}' for found in ratios)} |", flush=True)
    print()
    return say("over TCP: 475 in 3 of 3, the ratio within 2 %", holds)


def speed(options):
    found = fleets.call(options.program, "bench", "agent", "--json", threads=1)[-1]
    steps = next(rate["steps_per_second"] for rate in found["acting"] if rate["environments"] == 1)
    micros = 1e6 * found["draw_seconds"]
    print(f"{steps:,.0f} steps a second in one environment; a draw of {found['batch']} of {found['memory']:,} takes "
          f"{micros:.1f} us.\n")
    return say(f"at least {STEPS:,} steps a second, at most {MICROS} us a draw", steps >= STEPS and micros <= MICROS)


CLAIMS = {"return": solves, "actors": actors, "bundles": bundles, "ratio": ratio, "speed": speed, "tcp": tcp}
SIMULATED = ["return", "actors", "bundles", "ratio"]


def main():
    words = reinforcement.arguments(__doc__)
    words.add_argument("claims", nargs="*", metavar="CLAIM", help=", ".join(CLAIMS))
    options = words.parse_args()
    for name in options.claims:
        if name not in CLAIMS:
            words.error(f"no claim `{name}`: {', '.join(CLAIMS)}")
    held = [CLAIMS[name](options) for name in options.claims or SIMULATED]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
