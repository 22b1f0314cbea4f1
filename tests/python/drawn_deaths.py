"""Deaths of one rank of a drawn script, in real processes."""

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Dict, List

from drawn_scripts import METHODS, Script, draw_script
from fleets import PATIENCE_S, SCRIPTS
from grapevine._program import program_path

WAYS = {"raises": r"exit 1\b", "exits": r"exit 9\b", "kills": r"(signal 9|SIGKILL|killed)"}
GOES_ON = ("d-psgd", "ad-psgd", "parameter-server")     # without a rank


@dataclass(frozen=True)
class Death:
    """Which rank of a script ends how, in which step."""
    seed: int
    method: str
    rank: int
    step: int
    steps: int
    way: str

    def script(self) -> Script:
        """Returns the script without what ends a loop by itself."""
        script = draw_script(self.seed, self.method)
        script = script.changed(optimizer={**script.optimizer, "two": False, "outside": False},
                                model={**script.model, "sparse": False}, local_steps=1,
                                order="lian" if self.method == "d-psgd" else None)
        return script.habit(scaler=False, infinite=None, more=None, moves=None, scheduler=None)

    def run(self, folder: Path) -> "subprocess.CompletedProcess[str]":
        """Runs the fleet; its file and its run are in the folder."""
        from drawn_fleets import fleet
        path = folder / "fleet.yaml"
        program = [sys.executable, "-W", "ignore", str(SCRIPTS / "drawn.py"), json.dumps(astuple(self))]
        words: Dict[str, Any] = {"version": 1, **fleet(self.script(), str(folder)), "program": program,
                                 "output": {"dir": str(folder / "run")}, "faults": {"deadline": "0 s"}}
        words.pop("stop", None)
        path.write_text(json.dumps(words))
        return subprocess.run([program_path(), "run", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE_S, env={**os.environ, "OMP_NUM_THREADS": "1"})


def draw_death(seed: int) -> Death:
    draw = random.Random(f"death {seed}")
    method = METHODS[seed % len(METHODS)]
    peers = draw_script(seed, method).peers
    return Death(seed, method, draw.randrange(peers), draw.randrange(1, 8), 10, draw.choice(list(WAYS)))


def complaints(death: Death, code: int, output: str, folder: Path) -> List[str]:
    """Returns what was silent, or what else is not as the page says."""
    peers, said = death.script().peers, []
    results = [json.loads(line) for line in re.findall("RESULT (.*)", output)]
    if code != 3:
        said.append(f"the run's code is {code}, not 3")
    live, row = rf"peer {death.rank} lost at round .*{WAYS[death.way]}", rf"(?m)^ +{death.rank} +\d+ +{WAYS[death.way]}"
    if not re.search(live, output) and not re.search(row, output):
        said.append(f"peer {death.rank} is not named as lost")
    if death.way == "raises" and "drawn to fail" not in output:
        said.append("its last words are missing")
    if not all(whole for _, _, whole in results):
        said.append("a model is not finite")
    if death.method in GOES_ON:
        if sorted(rank for rank, _, _ in results) != [rank for rank in range(peers) if rank != death.rank]:
            said.append(f"the others did not finish: {results}")
    if not (folder / "run" / "model.safetensors").exists():
        said.append("no model is saved")
    return said
