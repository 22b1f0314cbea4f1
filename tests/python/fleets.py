"""Fleets of scripts that are started by hand, over loopback, and the same fleets of built-in peers beside them."""

import gzip
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from grapevine._program import program_path

SCRIPTS = Path(__file__).with_name("scripts")
EXAMPLES = Path(__file__).parents[2] / "examples" / "pytorch"
PATIENCE_S = 120      # after which a test has failed, however slow the machine is
DIMENSION = 6

HEAD = """version: 1
name: by-hand
seed: 5
peers: {peers}
algorithm: {algorithm}
topology: {topology}
stop: {{ rounds: {rounds} }}
evaluate: {{ every: {rounds} rounds }}
output: {{ dir: "{folder}" }}
{more}"""
BUILT_IN = """data: {{ kind: quadratic, dimension: {dimension}, hessian: [{curvature}], noise: 0, spread: 1 }}
model: quadratic
train: {{ optimizer: {{ kind: sgd, lr: {rate} }} }}
"""
PROGRAM = "program: [python3, train.py]\n"


class Fleet:
    """A folder, and the values of a fleet file."""

    def __init__(self, **values: Any) -> None:
        self._place = tempfile.TemporaryDirectory()
        self.folder = Path(self._place.name)
        self.values = {"peers": 4, "topology": "ring", "rounds": 12, "algorithm": "d-psgd", "rate": 0.5,
                       "curvature": 0.5, "dimension": DIMENSION, "more": "", **values}

    def close(self) -> None:
        self._place.cleanup()

    def write(self, name: str, body: str, **values: Any) -> Path:
        """Writes a fleet file."""
        path = self.folder / f"{name}.yaml"
        path.write_text((HEAD + body).format(**{**self.values, "folder": self.folder / name, **values}))
        return path

    def built_in(self, name: str = "built-in", **values: Any) -> List[List[float]]:
        """Runs the fleet of built-in peers on its quadratic; returns the model of each."""
        path = self.write(name, BUILT_IN, **values)
        peers = self.values["peers"]
        done = wait([start([program_path(), "peer", str(path), "--id", str(i), "--meet", str(self.folder / "meet")])
                     for i in range(peers)])
        for process in done:
            check(process)
        return [floats(self.folder / name / "peers" / f"{i:03}" / "model.safetensors") for i in range(peers)]

    def centers(self) -> List[List[float]]:
        """Returns the minimum of each peer: where one step of rate 1 on curvature 1 leads from zero, to the bit."""
        return self.built_in("centers", algorithm="isolated", rounds=1, rate=1, curvature=1)

    def scripts(self, names: Sequence[str], **options: Any) -> List[Dict[str, Any]]:
        """Runs a script for each peer, and returns what each wrote to its answer."""
        return together(names, [(self, options)])[0]

    def words(self, peers: int, **options: Any) -> List[Dict[str, Any]]:
        """Returns what a script of each peer is told; options are the scripts' own."""
        path = self.write("program", PROGRAM)
        values = {name: self.values[name] for name in ("rate", "curvature")}
        return [{"fleet": str(path), "id": i, "meet": str(self.folder / "met"),
                 "answer": str(self.folder / f"{i}.json"), **values, **options} for i in range(peers)]

    def answer(self, i: int) -> Dict[str, Any]:
        return json.loads((self.folder / f"{i}.json").read_text())


def started(names: Sequence[str], fleets: Sequence[Tuple[Fleet, Dict[str, Any]]],
            torchrun: bool = False) -> List[subprocess.Popen]:
    """Starts a script for each peer, which trains in one fleet after the other; with torchrun's environment perhaps."""
    words = list(zip(*[fleet.words(len(names), **options) for fleet, options in fleets]))
    port = free_port()
    processes = []
    for i, name in enumerate(names):
        environment = {"RANK": str(i), "WORLD_SIZE": str(len(names)), "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": str(port)} if torchrun else {}
        processes.append(start([sys.executable, "-W", "ignore", str(SCRIPTS / name), json.dumps(words[i])],
                               **environment))
    return processes


def together(names: Sequence[str], fleets: Sequence[Tuple[Fleet, Dict[str, Any]]],
             torchrun: bool = False) -> List[List[Dict[str, Any]]]:
    """Runs these scripts, one for each peer, through all fleets; returns the answers of each fleet."""
    for process in wait(started(names, fleets, torchrun)):
        check(process)
    return [[fleet.answer(i) for i in range(len(names))] for fleet, _ in fleets]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command: Sequence[str], **environment: str) -> subprocess.Popen:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "OMP_NUM_THREADS": "1", **environment})


def wait(processes: Sequence[subprocess.Popen]) -> List[subprocess.CompletedProcess]:
    """Waits for all; kills all where one takes too long, so that its output can be read."""
    done = []
    for process in processes:
        try:
            output, _ = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            for other in processes:
                other.send_signal(signal.SIGKILL)
            output, _ = process.communicate()
            output += f"\nkilled after {PATIENCE_S} s"
        done.append(subprocess.CompletedProcess(process.args, process.returncode, output))
    return done


def check(process: subprocess.CompletedProcess) -> None:
    if process.returncode != 0:
        raise AssertionError(f"{process.args[-2:]} ended with {process.returncode}:\n{process.stdout}")


def small_fashion(folder: Path, samples: int = 320) -> Path:
    """Writes images of ten classes in the format of Fashion-MNIST: class c is bright in one tenth of its pixels."""
    for part in ("train", "t10k"):
        labels = bytes(i * 7 % 10 for i in range(samples))
        images = b"".join(bytes(200 if k * 10 // 784 == label else (i * k) % 40 for k in range(784))
                          for i, label in enumerate(labels))
        for what, data in (("images-idx3-ubyte", bytes(16) + images), ("labels-idx1-ubyte", bytes(8) + labels)):
            (folder / f"{part}-{what}.gz").write_bytes(gzip.compress(data))
    return folder


def run_example(name: str, *arguments: Any, sets: Sequence[str] = ()) -> Dict[str, Any]:
    """Runs a fleet file of examples/pytorch with these arguments to its script; returns the summary,
    and in "rows" the evaluations before it.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = (EXAMPLES / name).read_text()
        script = re.search(r"program: \[python3, ([a-z_]+\.py)", text).group(1)
        program = json.dumps([sys.executable, "-W", "ignore", str(EXAMPLES / script), *map(str, arguments)])
        words = [word for one in (f"program={program}", f"output.dir={folder}/run", *sets) for word in ("--set", one)]
        process, = wait([start([program_path(), "run", str(EXAMPLES / name), *words])])
        check(process)
        rows = [json.loads(line) for line in (Path(folder) / "run" / "metrics.jsonl").read_text().splitlines()]
        return {**rows.pop(), "rows": rows}


def floats(path: Path) -> List[float]:
    """Returns the values of a file of safetensors with one tensor of float32."""
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    values = data[8 + length:]
    return list(struct.unpack(f"<{len(values) // 4}f", values))
