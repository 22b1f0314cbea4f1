"""How one rank of a drawn script ends before the others, in real processes, and what must be seen of it."""

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Dict, List, Set

from drawn_scripts import METHODS, Script, draw_script
from fleets import PATIENCE_S, SCRIPTS
from grapevine._program import program_path

SIGINT = r"(killed by signal 2|exit 130)\b"
SLOWLY = r"(exit 1\b|killed by signal 9)"       # the launcher kills one that takes too long to end
WAYS = {"raises": SLOWLY, "exits": r"exit 3\b", "exits at once": r"exit 4\b", "is killed": "killed by signal 9",
        "raises after shutdown": SLOWLY, "is interrupted": SIGINT, "makes a step less": "", "breaks": ""}
LAST_WORDS = {"raises": "drawn to fail", "raises after shutdown": "drawn to fail",
              "is interrupted": "KeyboardInterrupt"}
GOES_ON = ("d-psgd", "ad-psgd", "parameter-server")     # without a rank


@dataclass(frozen=True)
class Death:
    """Which rank of a script ends how, in which step, and whether the loops are those of gv.running."""
    seed: int
    method: str
    rank: int
    step: int
    steps: int
    way: str
    running: bool

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
    """Returns the death of a seed; 40 in a row have each way under each method."""
    draw = random.Random(f"death {seed}")
    method, way = METHODS[seed % len(METHODS)], list(WAYS)[seed % len(WAYS)]
    peers = draw_script(seed, method).peers
    return Death(seed, method, draw.randrange(peers), draw.randrange(1, 8), 10, way, draw.random() < 0.5)


def complaints(death: Death, code: int, output: str, folder: Path) -> List[str]:
    """Returns what was silent, or what else is not as the page says."""
    said, ends, left = [], WAYS[death.way], f"peer {death.rank} "
    others = set(range(death.script().peers)) - {death.rank}
    last = death.way == "makes a step less" and death.method == "local-sgd"     # its model counts in that mean, too
    quiet = not ends and (last or death.running or death.method in GOES_ON)
    if code != (0 if quiet else 3):
        said.append(f"the run's code is {code}, not {0 if quiet else 3}")
    row = rf"(?m)^ +{death.rank} +\d+ +{ends}"
    if ends and not re.search(rf"{left}lost at round .*{ends}", output) and not re.search(row, output):
        said.append(f"{left}is not named as lost")
    if LAST_WORDS.get(death.way, "") not in output:
        said.append("its last words are missing")
    first = set(re.findall(r"PeerLost: peer (\d+) (?:is lost|has left)", output))
    first |= set(re.findall(r"peer (\d+) has (?:left|died): a collective needs", output))
    if not first <= {str(death.rank)} or not (first or ends or last or death.method in GOES_ON):
        said.append(f"{sorted(first)} are named as the first that left")
    results = [json.loads(line) for line in re.findall(r"RESULT (\[.*?\])", output)]
    if not all(whole for _, _, whole in results):
        said.append("a model is not finite")
    if missing := others - behind("FINALLY", output):
        said.append(f"the code of {sorted(missing)} after the loop does not run")
    if death.method in GOES_ON or quiet:
        if missing := others - behind("RESULT", output):
            said.append(f"{sorted(missing)} did not finish: {results}")
    if not (folder / "run" / "model.safetensors").exists():
        said.append("no model is saved")
    return said


def behind(word: str, output: str) -> Set[int]:
    """Returns the ranks that have printed a word."""
    return {json.loads(line)[0] for line in re.findall(word + r" (\[.*?\])", output)}
