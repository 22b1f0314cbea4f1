#!/usr/bin/env python3
"""How fast is Grapevine on this machine, beside Gloo, Open MPI and PyTorch where they are installed?

usage: speed.py [path to the grapevine binary] [--only PART ...] [--repetitions N] [--quick]

  experiments/speed/speed.py build/release/peer/grapevine
  experiments/speed/speed.py build/release/peer/grapevine --only exchange training --repetitions 3

All that is compared takes turns, and the tables show medians. A turn during which other programs
used more than a twentieth of the machine is thrown away and repeated. Tables go to standard output
as Markdown, progress to standard error.
"""
import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
from fleets import sets  # noqa: E402

MOST_OTHERS = 0.05  # of the machine, by programs that are not measured
MODELS = {"softmax": {"model": "softmax", "train.batch": 32},
          "mlp": {"model": "{ kind: mlp, hidden: [256, 128] }", "train.batch": 64}}


def tell(text):
    print(text, file=sys.stderr, flush=True)


def run(*words):
    """What a program prints; one that fails ends the experiment with its words."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(w) for w in words)}\nends with {done.returncode}: {done.stderr}")
    return done.stdout


def last_line(*words):
    return json.loads(run(*words).splitlines()[-1])


class Quiet:
    """Measures what other programs use of the machine meanwhile.

    Of /proc/stat the time of user, nice, system and steal counts, without interrupts: those of the
    loopback are ours.
    """

    def __init__(self):
        self.thrown_away = 0
        self.kept = 0

    @staticmethod
    def _busy():
        with open("/proc/stat") as f:
            ticks = [int(word) for word in f.readline().split()[1:]]
        return (ticks[0] + ticks[1] + ticks[2] + ticks[7]) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _ours():
        return sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
                   for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    def measure(self, what):
        """what(), again until nobody disturbs it; the fifth time it counts all the same."""
        for attempt in range(5):
            began, busy, ours = time.monotonic(), self._busy(), self._ours()
            result = what()
            spent = time.monotonic() - began
            others = self._busy() - busy - (self._ours() - ours)
            if others <= MOST_OTHERS * spent * os.cpu_count() + 0.05:
                break
            self.thrown_away += 1
        self.kept += 1
        return result

    def in_turn(self, contenders, repetitions):
        """{name: measure} -> {name: median}. Measures return a number or {name: number}."""
        found = {}
        for repetition in range(repetitions):
            for name, what in contenders.items():
                tell(f"  {repetition + 1} of {repetitions}: {name}")
                result = self.measure(what)
                for key, value in (result if isinstance(result, dict) else {name: result}).items():
                    found.setdefault(key, []).append(value)
        return {name: statistics.median(values) for name, values in found.items()}


def compiled(folder, source, *compiler):
    """The program, or None where what it needs is not installed."""
    if shutil.which(compiler[0]) is None:
        return None
    program = os.path.join(folder, source.removesuffix(".cpp"))
    words = [compiler[0], "-O3", "-march=native", "-std=c++17", "-o", program,
             os.path.join(HERE, source), *compiler[1:]]
    return program if subprocess.run(words, capture_output=True).returncode == 0 else None


def python_with_torch():
    """An interpreter that has PyTorch, and which; None twice: there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        asked = subprocess.run([python, "-c", "import torch; print(torch.__version__)"],
                               capture_output=True, text=True)
        if asked.returncode == 0:
            return python, asked.stdout.strip()
    return None, None


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g}"


def table(head, rows):
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")
    sys.stdout.flush()


class Experiment:
    def __init__(self, arguments, folder):
        self.grapevine = os.path.abspath(arguments.grapevine)
        self.repetitions = arguments.repetitions
        self.quick = arguments.quick
        self.folder = folder
        self.quiet = Quiet()
        self.gloo = compiled(folder, "gloo_round.cpp", "g++", "-lgloo", "-lpthread")
        self.mpi = compiled(folder, "mpi_round.cpp", "mpicxx")
        self.torch, self.torch_version = python_with_torch()

    # ---- Rounds without a gradient.

    def ours(self, averaging, peers, floats):
        row = last_line(self.grapevine, "bench", "exchange", "--json", "--averaging", averaging,
                        "--peers", peers, "--floats", floats, "--repetitions", 1)["rows"][0]
        return {"shared": row["shared"]["round_seconds"], "TCP": row["tcp"]["round_seconds"],
                "bare streams": row["plain"]["round_seconds"],
                "shared, CPU": row["shared"]["cpu_seconds"], "TCP, CPU": row["tcp"]["cpu_seconds"]}

    def rounds(self, averaging, cases, gloo_ways):
        rows = []
        for peers, floats in cases:
            tell(f"{averaging}: {peers} peers, {floats} floats")
            count = min(max(100_000_000 // floats, 10), 4000)
            contenders = {"ours": lambda: self.ours(averaging, peers, floats)}
            for way in gloo_ways if self.gloo else []:
                contenders["Gloo " + way] = lambda way=way: float(
                    run(self.gloo, way, peers, floats, count))
            for name, transport in (("shared", "vader,self"), ("TCP", "tcp,self")):
                if self.mpi:
                    contenders["Open MPI " + name] = lambda transport=transport: float(run(
                        "mpirun", "--allow-run-as-root", "--oversubscribe", "-np", peers,
                        "--mca", "btl", transport, self.mpi, averaging, floats, count))
            found = self.quiet.in_turn(contenders, self.repetitions)
            gloo = min((found["Gloo " + way] for way in gloo_ways if self.gloo), default=None)
            mpi = found.get("Open MPI shared")
            mpi_tcp = found.get("Open MPI TCP")

            def over(a, b):
                return f"{a / b:.2f}" if b else ""

            rows.append([peers, floats, *(milliseconds(found[key]) for key in
                                          ("shared", "TCP", "bare streams")),
                         *(milliseconds(s) if s else "" for s in (gloo, mpi, mpi_tcp)),
                         over(found["shared"], gloo), over(found["shared"], mpi),
                         over(found["TCP"], gloo), over(found["bare streams"], found["TCP"]),
                         over(found["shared, CPU"], found["TCP, CPU"])])
        table(["peers", "floats", "shared, ms", "TCP", "bare streams", "Gloo", "Open MPI shared",
               "Open MPI TCP", "shared / Gloo", "shared / Open MPI", "TCP / Gloo", "bare / TCP",
               "CPU of shared / of TCP"], rows)

    def exchange(self):
        sizes = [1000, 100_000, 1_000_000] + ([] if self.quick else [25_600_000])
        print("\n## A round of averaging with the neighbours of a ring")
        self.rounds("neighbors", [(n, d) for n in (4, 8) for d in sizes], ["neighbors"])

    def all_reduce(self):
        print("\n## Ring all-reduce; Gloo's fastest of three")
        sizes = [1_000_000] + ([] if self.quick else [25_600_000])
        self.rounds("all-reduce", [(4, d) for d in sizes], ["ring", "chunked", "halving"])

    # ---- Training.

    def steps_per_second(self, model, algorithm, rounds):
        """Of two lengths, so that beginning and evaluation do not count."""
        def seconds(count):
            out = tempfile.mkdtemp(dir=self.folder)
            words = sets({**MODELS[model], "algorithm": algorithm, "stop.rounds": count,
                          "output.dir": os.path.join(out, "run")})
            line = last_line(self.grapevine, "run", os.path.join(HERE, "fleet.yaml"), "--json",
                             *words)
            shutil.rmtree(out)
            return line["seconds"]
        return 2 * rounds / (seconds(3 * rounds) - seconds(rounds))

    def training(self):
        print("\n## Training, four processes of one thread: steps per second and peer")
        rows = []
        for model, rounds, theirs in (("softmax", 4000, 500), ("mlp", 600, 200)):
            tell(f"training: {model}")
            contenders = {name: lambda a=algorithm: self.steps_per_second(model, a, rounds)
                          for name, algorithm in (("ours", "d-psgd"), ("isolated", "isolated"),
                                                  ("ours, all-reduce", "all-reduce"))}
            for way in ("ddp", "gossip", "independent") if self.torch else ():
                contenders[way] = lambda way=way: float(run(
                    self.torch, os.path.join(HERE, "torch_training.py"), model, way, 4, theirs))
            found = self.quiet.in_turn(contenders, self.repetitions)
            names = ("ours", "isolated", "ours, all-reduce", "ddp", "gossip", "independent")
            ratios = [f"{found['ours'] / found[name]:.2f}" if name in found else ""
                      for name in ("isolated", "ddp", "gossip", "independent")]
            rows.append([model, *(f"{found[name]:.0f}" if name in found else "" for name in names),
                         *ratios])
        table(["model", "D-PSGD, lian", "our isolated peers", "our all-reduce", "DDP",
               "PyTorch's ring gossip", "PyTorch's independent processes", "over isolated",
               "over DDP", "over its gossip", "over its independent ones"], rows)

    # ---- One command.

    def seconds(self, *words):
        began = time.monotonic()
        run(*words)
        return time.monotonic() - began

    def commands(self):
        print("\n## Commands")
        fashion = os.path.join(HERE, "..", "..", "configs", "fashion-ring8.yaml")
        out = os.path.join(self.folder, "fashion")
        ring = os.path.join(self.folder, "ring.yaml")
        with open(ring, "w") as f:
            f.write("version: 1\npeers: 1000\ndata: { kind: quadratic, dimension: 64, noise: 1, "
                    "spread: 1 }\nmodel: quadratic\ntrain: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                    "topology: ring\nstop: { rounds: 100 }\n")

        def simulate(peers):
            return lambda: self.seconds(self.grapevine, "simulate", ring, "--json", "--no-save",
                                        *sets({"peers": peers}))

        def fleet(rounds):
            return lambda: self.seconds(self.grapevine, "run", fashion, "--json", *sets(
                {"stop.rounds": rounds, "output.dir": out}))

        def spectrum(peers):
            return lambda: self.seconds(self.grapevine, "graph", "report", "--topology",
                                        "random-regular:degree=4", "--peers", peers, "--json")

        contenders = {"`run configs/fashion-ring8.yaml`, 1 round": fleet(1),
                      "`run configs/fashion-ring8.yaml`, 600 rounds": fleet(600),
                      "`simulate`, ring of 1,000 peers of 64 floats, 100 rounds": simulate(1000),
                      "the same of 10,000 peers": simulate(10_000),
                      "`graph report`, random 4-regular graph of 100,000 peers": spectrum(100_000)}
        if not self.quick:
            contenders["the same of 1,000,000 peers"] = spectrum(1_000_000)
        found = self.quiet.in_turn(contenders, self.repetitions)
        if not self.quick:
            tell("simulate: 100,000 peers, once")
            found["`simulate`, ring of 100,000 peers of 64 floats, 100 rounds, once"] = \
                self.quiet.measure(simulate(100_000))
        table(["command", "s"], [[name, f"{value:.3g}"] for name, value in found.items()])


def processor():
    with open("/proc/cpuinfo") as f:
        text = f.read()
    name = next((line.split(":")[1].strip() for line in text.splitlines()
                 if line.startswith("model name")), platform.machine())
    widest = "AVX-512" if " avx512f" in text else "AVX2" if " avx2" in text else "SSE"
    return f"{name}, {os.cpu_count()} cores, {widest}"


def main():
    parts = ("exchange", "all-reduce", "training", "commands")
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grapevine", nargs="?", default="build/release/peer/grapevine")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, metavar="PART",
                        help=f"of {', '.join(parts)}")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="without what takes minutes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        experiment = Experiment(arguments, folder)
        print(f"{processor()}; medians of {arguments.repetitions}; load before "
              f"{os.getloadavg()[0]:.2f}; beside: Gloo {'yes' if experiment.gloo else 'no'}, "
              f"Open MPI {'yes' if experiment.mpi else 'no'}, "
              f"PyTorch {experiment.torch_version or 'no'}")
        for part in arguments.only:
            getattr(experiment, part.replace("-", "_"))()
        print(f"\n{experiment.quiet.kept} turns; {experiment.quiet.thrown_away} disturbed ones "
              "thrown away")


if __name__ == "__main__":
    main()
