#!/usr/bin/env python3
"""What does clipping save when two of ten peers attack? Usage: attackers.py GRAPEVINE [ROUNDS]"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fleets  # noqa: E402

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fleet.yaml")
METHODS = ["{ kind: d-psgd, order: atc }"] + [f"{{ kind: clipped-gossip, tau: {tau} }}" for tau in (0.1, 0.05, 0.02)]
ATTACKS = [None, "sign-flip", "noise", "alie", "inner-product", "dissensus"]


def worst_accuracy(binary, rounds, method, attack):
    values = {"algorithm": method, "stop.rounds": rounds}
    if attack:
        values["attackers"] = f"{{ count: 2, kind: {attack} }}"
    try:
        last = fleets.call(binary, "simulate", FLEET, "--json", "--no-save", "--threads", "1", *fleets.sets(values))[-1]
    except RuntimeError as failed:
        if "the loss is not finite" in str(failed):
            return "not finite"
        raise
    return f"{100 * last['accuracy_min']:.2f} %"


def main():
    binary = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print("| attack | " + " | ".join(f"`{method}`" for method in METHODS) + " |")
    print("|---" * (1 + len(METHODS)) + "|")
    for attack in ATTACKS:
        cells = [worst_accuracy(binary, rounds, method, attack) for method in METHODS]
        print(f"| {attack or 'none'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
