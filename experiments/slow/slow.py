#!/usr/bin/env python3
"""One peer of eight is stopped and one slowed ten times: what do the other six keep of their rounds
per second? For several deadlines. Usage: slow.py [SECONDS]"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEERS, STOPPED, SLOW = 8, 2, 6
FLEET = """version: 1
name: slow
peers: 8
data: {{ kind: quadratic, dimension: 20000, noise: 1, spread: 1 }}
model: quadratic
train: {{ optimizer: {{ kind: sgd, lr: 0.01 }} }}
algorithm: {{ kind: d-psgd, order: {order} }}
topology: {topology}
stop: {{ time: 1 h }}
faults: {{ heartbeat: 200 ms, dead_after: 1 s, deadline: {deadline} }}
"""


class Fleet:
    def __init__(self, text, folder):
        path = os.path.join(folder, "fleet.yaml")
        with open(path, "w") as f:
            f.write(text)
        self.steps = [[] for _ in range(PEERS)]  # (time, round)
        self.ports = [None] * PEERS
        self.processes = []
        for i in range(PEERS):
            own = os.path.join(folder, f"{i}")
            os.makedirs(os.path.join(own, "models"))
            self.processes.append(subprocess.Popen(
                [os.path.join(ROOT, "build/release/peer/grapevine"), "peer", path, "--id", str(i),
                 "--launched", own],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        for i in range(PEERS):
            threading.Thread(target=self.hear, args=(i,), daemon=True).start()
        while None in self.ports:
            time.sleep(0.01)
        addresses = [{"peer": i, "host": "127.0.0.1", "port": p} for i, p in enumerate(self.ports)]
        for process in self.processes:
            process.stdin.write(json.dumps({"addresses": addresses}) + "\n")
            process.stdin.flush()

    def hear(self, i):
        for line in self.processes[i].stdout:
            says = json.loads(line)
            if says["event"] == "listening":
                self.ports[i] = says["port"]
            elif says["event"] == "progress":
                self.steps[i].append((time.monotonic(), says["step"]))

    def rate(self, peer, since, until):
        inside = [s for s in self.steps[peer] if since <= s[0] <= until]
        (t0, a), (t1, b) = inside[0], inside[-1]
        return (b - a) / (t1 - t0)

    def kill(self):
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


def duty_cycle(process, stop, until):
    while time.monotonic() < until:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.9 * stop)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.1 * stop)


def measure(topology, order, deadline, seconds):
    """Rounds per second of the six: with all eight at full speed; with the two stopped for good;
    with one stopped and one slow. And those of the slow one."""
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(FLEET.format(topology=topology, order=order, deadline=deadline), folder)
        others = [i for i in range(PEERS) if i not in (STOPPED, SLOW)]

        def rate(since):
            until = time.monotonic()
            time.sleep(0.3)
            return sum(fleet.rate(i, since, until) for i in others) / len(others)

        time.sleep(1.5)
        t = time.monotonic()
        time.sleep(seconds)
        eight = rate(t)
        for i in (STOPPED, SLOW):
            fleet.processes[i].send_signal(signal.SIGSTOP)
        time.sleep(2)  # dead_after and a little more
        t = time.monotonic()
        time.sleep(seconds)
        six = rate(t)
        duty_cycle(fleet.processes[SLOW], 0.05, time.monotonic() + 1)
        t = time.monotonic()
        duty_cycle(fleet.processes[SLOW], 0.05, t + seconds)
        slow = rate(t)
        fleet.kill()
        return eight, six, slow


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"{'topology':<10} {'order':<6} {'deadline':>9} {'eight':>9} {'six':>9} {'one slow':>10} {'kept':>6}")
    for topology in ("ring", "complete"):
        for order in ("lian", "atc"):
            for deadline in ("30 s", "20 ms", "5 ms", "2 ms", "1 ms"):
                eight, six, slow = measure(topology, order, deadline, seconds)
                print(f"{topology:<10} {order:<6} {deadline:>9} {eight:7.0f}/s {six:7.0f}/s {slow:8.0f}/s "
                      f"{100 * slow / six:5.0f}%", flush=True)


main()
