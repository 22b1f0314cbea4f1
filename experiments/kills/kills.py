#!/usr/bin/env python3
"""Kills 3 of 8 peers at random moments of a training run, many times, beside undisturbed runs of the
same seeds; prints one table. Usage: kills.py [TIMES [FIRST_SEED]]"""
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLEET = os.path.join(ROOT, "configs", "fashion-ring8.yaml")
PEERS, KILLS = 8, 3


class Run:
    def __init__(self, seed, folder):
        self.lines = []  # (time, text) of stderr
        self.folder = folder
        sets = [f"seed={seed}", f"output.dir={folder}", "launch.restart=on-failure",
                "checkpoint.every=100 rounds"]
        command = [os.path.join(ROOT, "grapevine"), "run", FLEET, "--json"]
        for value in sets:
            command += ["--set", value]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append((time.monotonic(), line.rstrip()))

    def kill(self, peer):
        with open(f"{self.folder}/peers/{peer:03}/pid") as f:
            os.kill(int(f.read()), signal.SIGKILL)
        return time.monotonic()

    def finish(self):
        out = self.process.stdout.read().strip().splitlines()
        self.process.wait()
        self.reader.join()
        if self.process.returncode != 0:
            sys.exit(f"exit {self.process.returncode}:\n" + "\n".join(t for _, t in self.lines))
        return json.loads(out[-1])


def wait_for_training(folder):
    while not all(os.path.exists(f"{folder}/peers/{i:03}/pid") for i in range(PEERS)):
        time.sleep(0.01)
    time.sleep(1)


def disturbed(seed, folder, seconds):
    chance = random.Random(seed)
    run = Run(seed, folder)
    wait_for_training(folder)
    victims = chance.sample(range(PEERS), KILLS)
    moments = sorted(chance.uniform(0, 0.7 * seconds) for _ in victims)
    began, killed = time.monotonic(), {}
    for victim, moment in zip(victims, moments):
        time.sleep(max(0, began + moment - time.monotonic()))
        killed[victim] = run.kill(victim)
    summary = run.finish()
    back = []
    for victim, when in killed.items():
        times = [t for t, line in run.lines
                 if f"peer {victim} is back as a new process" in line and t > when]
        back.append(max(times[:2]) - when if times else float("inf"))
    survivors = [str(i) for i in range(PEERS) if i not in victims]
    return {"accuracy": summary["accuracy"], "lost": summary["lost"], "back": max(back),
            "passed_over": [summary["passed_over"][i] for i in survivors],
            "longest_wait": max(summary["longest_wait"][i] for i in survivors),
            "seconds": summary["seconds"]}


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    folder = tempfile.mkdtemp(prefix="kills-")
    rows = []
    for seed in range(first, first + times):
        plain = Run(seed, f"{folder}/{seed}-plain").finish()
        row = disturbed(seed, f"{folder}/{seed}-killed", plain["seconds"])
        row["difference"] = row["accuracy"] - plain["accuracy"]
        row["plain_seconds"] = plain["seconds"]
        rows.append(row)
        print(f"seed {seed:3}  accuracy {plain['accuracy']:.4f} -> {row['accuracy']:.4f}  back in "
              f"{row['back']:.2f} s  survivors: longest wait {row['longest_wait']:.2f} s, passed over "
              f"{max(row['passed_over'])}  {plain['seconds']:.1f} s -> {row['seconds']:.1f} s",
              flush=True)
    shutil.rmtree(folder)
    passed = [p for row in rows for p in row["passed_over"]]
    print(f"rounds that survivors passed over: median {statistics.median(passed)}, max {max(passed)}")
    print(f"survivors' longest wait: median {statistics.median(r['longest_wait'] for r in rows):.2f} "
          f"s, max {max(r['longest_wait'] for r in rows):.2f} s")
    print(f"back within: median {statistics.median(r['back'] for r in rows):.2f} s, "
          f"max {max(r['back'] for r in rows):.2f} s")
    print(f"accuracy, difference in points: mean {100 * statistics.mean(r['difference'] for r in rows):+.3f}, "
          f"worst {100 * min(r['difference'] for r in rows):+.3f}")


main()
