"""What the experiments do alike: ask the program, average its evaluations, print what came out.

A script in a folder beside this file finds it with

    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
"""
import gzip
import json
import os
import struct
import subprocess

IMAGES = os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist")
FIGURES = "consensus: predicted, measured, % | mean model's excess | local models' excess"


def sets(values):
    """Words of a command line that set keys of its fleet file: {"peers": 16} -> --set peers=16."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def call(*command, threads=None, good=(0,)):
    """The JSON lines that a command of the program prints, as dicts.

    threads: of OpenMP in the child (None: as many as it likes); idle ones disturb whoever runs
    beside it. A command that ends with another code than the good ones raises RuntimeError with
    what it said.
    """
    env = dict(os.environ, **({} if threads is None else {"OMP_NUM_THREADS": str(threads)}))
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode not in good:
        raise RuntimeError(f"{' '.join(command)}\nends with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def simulate(binary, fleet, values, *words, threads=None):
    """Evaluations of `simulate FLEET` with these keys set, in the order of their rounds."""
    lines = call(binary, "simulate", fleet, "--json", "--no-save", *words, *sets(values), threads=threads)
    return [line for line in lines if line["event"] == "evaluate"]


def averages(evaluations, keys=("consensus", "loss", "loss_local")):
    """The mean of each of these figures over the evaluations, as a list."""
    return [sum(e[key] for e in evaluations) / len(evaluations) for key in keys]


def kept(folder, name, make):
    """make(), kept in folder/name.json; made before, it is read from there. No folder: not kept."""
    path = folder and os.path.join(folder, name + ".json")
    if path and os.path.exists(path):
        with open(path) as f:
            return json.load(f)
    result = make()
    if path:
        with open(path + ".part", "w") as f:
            json.dump(result, f)
        os.rename(path + ".part", path)
    return result


def write_parts(page, parts):
    """Puts each text, by name, into a page between its marks, <!-- NAME --> and <!-- end of NAME -->."""
    with open(page) as f:
        text = f.read()
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        text = text.split(begin)[0] + begin + part + end + text.split(end)[1]
    with open(page, "w") as f:
        f.write(text)


class Comparison:
    """A Markdown table of predicted beside measured figures, printed as its rows come."""

    def __init__(self, *columns):
        self.worst = 0  # largest |measured / predicted - 1| in percent
        print(f"| {' | '.join(columns)} | {FIGURES} |")
        print("|---" * (len(columns) + 3) + "|", flush=True)

    def row(self, key, predicted, measured):
        """key: one cell per column; predicted, measured: consensus distance and both excesses."""
        cells = [str(k) for k in key]
        for p, m in zip(predicted, measured):
            percent = 100 * (m / p - 1)
            self.worst = max(self.worst, abs(percent))
            cells.append(f"{p:.5f} {m:.5f} {percent:+.2f}")
        print(f"| {' | '.join(cells)} |", flush=True)

    def end(self):
        print(f"\nworst difference: {self.worst:.2f} %")


def write_images(folder, count):
    """The first images of Fashion-MNIST as IDX files, as training and as test set.

    So the loss that `simulate` reports is the training loss. IDX: a magic number and the sizes,
    big-endian, then one byte per pixel or label; here without gzip.
    """
    def part(name, header, header_bytes, item_bytes):
        with gzip.open(os.path.join(IMAGES, f"train-{name}-ubyte.gz")) as f:
            body = f.read(header_bytes + count * item_bytes)[header_bytes:]
        for prefix in ("train", "t10k"):
            with open(os.path.join(folder, f"{prefix}-{name}-ubyte"), "wb") as out:
                out.write(header + body)
    part("images-idx3", struct.pack(">IIII", 0x803, count, 28, 28), 16, 28 * 28)
    part("labels-idx1", struct.pack(">II", 0x801, count), 8, 1)
