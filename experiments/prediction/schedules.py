#!/usr/bin/env python3
"""Where simulated fleets settle whose graph changes with the round, beside the predictor.

usage: schedules.py [path to the grapevine binary] [peers ...]
prints the table of schedules.md
"""
from prediction import compare

if __name__ == "__main__":
    # Evaluated every 19 rounds: meets every round of a period.
    compare("schedule", ["one-peer-exponential", "random-matching", "base:k=1"], every=19)
