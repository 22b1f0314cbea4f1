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
    """Returns the spectrum of a topology's mixing matrix W, and figures computed from it.

    topology: a family with its parameters, such as "ring" or "torus:4x4" (`grapevine graph list`). The dictionary has
    "slem" (the second largest modulus of an eigenvalue), "gap" (1 - slem), "lambda2", "lambda_n", "diameter", "edges"
    and more. Raises Error for a topology that is unknown or not possible with this number of peers.
    """
    rows = answer("graph", "report", "--topology", topology, "--peers", str(peers), "--weights", weights)["rows"]
    return rows[0]


def plan(fleet: Union[str, os.PathLike], sets: Sequence[str] = ()) -> Dict[str, Any]:
    """Returns the result of `grapevine plan` for a fleet file: bytes and seconds of a round, the graph, the forecast.

    sets: values that override the file's, such as ["peers=16"]. Raises Error with the line of a mistake in the file.
    """
    overrides = [word for one in sets for word in ("--set", one)]
    return answer("plan", os.fspath(fleet), *overrides)


def main() -> None:
    """Becomes the program; the command `grapevine` of the wheel."""
    path = program_path()
    os.execv(path, ["grapevine", *sys.argv[1:]])
