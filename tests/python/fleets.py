"""Fleets of scripts that are started by hand, over loopback, and the same fleets of built-in peers beside them."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Sequence

from grapevine._program import program_path

SCRIPTS = Path(__file__).with_name("scripts")
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
"""
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
                       "curvature": 0.5, "dimension": DIMENSION, **values}

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
        processes = self.start(names, **options)
        return [self.answer(i, process) for i, process in enumerate(wait(processes))]

    def start(self, names: Sequence[str], torchrun: bool = False, **options: Any) -> List[subprocess.Popen]:
        """Starts a script for each peer, with torchrun's environment where that is wanted; options are the scripts'."""
        port = free_port()
        path = self.write("program", PROGRAM)
        started = []
        for i, name in enumerate(names):
            given = {"fleet": str(path), "id": i, "meet": str(self.folder / "met"),
                     "answer": str(self.folder / f"{i}.json"), "rate": self.values["rate"],
                     "curvature": self.values["curvature"], **options}
            environment = {"RANK": str(i), "WORLD_SIZE": str(len(names)), "MASTER_ADDR": "127.0.0.1",
                           "MASTER_PORT": str(port)} if torchrun else {}
            started.append(start([sys.executable, "-W", "ignore", str(SCRIPTS / name), json.dumps(given)],
                                 **environment))
        return started

    def answer(self, i: int, process: subprocess.CompletedProcess) -> Dict[str, Any]:
        check(process)
        return json.loads((self.folder / f"{i}.json").read_text())


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


def floats(path: Path) -> List[float]:
    """Returns the values of a file of safetensors with one tensor of float32."""
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    values = data[8 + length:]
    return list(struct.unpack(f"<{len(values) // 4}f", values))
