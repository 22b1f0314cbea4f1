"""The program `grapevine`: where it is, and what it answers as JSON."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, Sequence, Union

from grapevine._errors import Error
from grapevine._library import built


def program_path() -> str:
    """Says which program is asked: GRAPEVINE_PROGRAM, else the one of this package, else that of the checkout in which
    the package lies, else that of PATH.
    """
    import shutil     # here, as below: both would be half of the time that importing this package takes
    places = [Path(__file__).with_name("bin") / "grapevine", built("peer/grapevine")]
    found = os.environ.get("GRAPEVINE_PROGRAM") or next((str(place) for place in places if place.exists()), None)
    found = found or shutil.which("grapevine")
    if not found:
        raise Error("the program grapevine is not there\nhelp: GRAPEVINE_PROGRAM=PATH names it")
    return found


def answer(*arguments: str) -> Dict[str, Any]:
    """Runs the program with --json and returns what it prints. Raises Error with its words where it refuses."""
    import subprocess
    done = subprocess.run([program_path(), *arguments, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(done.stderr.strip().removeprefix("error: "))
    return json.loads(done.stdout)


def spectrum(topology: str, peers: int, weights: str = "metropolis") -> Dict[str, Any]:
    """Returns the spectrum of a topology's mixing matrix W, and what follows from it.

    topology: a family with its parameters, such as "ring" or "torus:4x4" (`grapevine graph list`). Among the members:
    "slem", the second largest modulus of an eigenvalue, "gap" = 1 - slem, "lambda2", "lambda_n", "diameter", "edges".
    Raises Error for a topology that is unknown or does not go with so many peers.
    """
    rows = answer("graph", "report", "--topology", topology, "--peers", str(peers), "--weights", weights)["rows"]
    return rows[0]


def plan(fleet: Union[str, os.PathLike], sets: Sequence[str] = ()) -> Dict[str, Any]:
    """Returns what `grapevine plan` says of a fleet file: bytes and seconds of a round, the graph, what is predicted.

    sets: "peers=16", over the file's values. Raises Error with the file's line where something is wrong.
    """
    overrides = [word for one in sets for word in ("--set", one)]
    return answer("plan", os.fspath(fleet), *overrides)


def main() -> None:
    """Becomes the program; the command `grapevine` of the wheel."""
    path = program_path()
    os.execv(path, ["grapevine", *sys.argv[1:]])
