"""A function as the program of a fleet: for notebooks, where there is no script to start."""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Sequence, Union

from grapevine._errors import Error
from grapevine._program import program_path

Fleet = Union[str, os.PathLike, Mapping[str, Any]]
FOLDER = ".grapevine"
SAVED = re.compile(r"saved +(.*)/model\.safetensors")

SCRIPT = '''"""{name}, as grapevine.launch wrote it down: `grapevine run` starts this for each peer."""
import sys
sys.path[:] = {paths!r}
from grapevine._launch import call     # noqa: E402
call({written!r})
'''


def launch(function: Callable[[], Any], fleet: Fleet, *, sets: Sequence[str] = ()) -> Dict[str, Any]:
    """Runs a function as the program of a fleet, in a process for each peer, and returns the run's summary.

    The function takes no arguments and does what a script does: init(), DistributedOptimizer and a loop. cloudpickle
    saves it with the values that it uses, and `grapevine run` starts it. The run's table is printed here, and its
    folder is the usual one. An interrupt (Ctrl-C, or a notebook's stop) ends the run normally and returns its summary.

    fleet: path of a fleet file, or its keys as a dictionary; `program` is set here.
    sets: values that override the fleet's, such as ["peers=8"].

    The saved function stays in the folder .grapevine, because `grapevine run --resume` and restarted peers read it.
    Raises Error without cloudpickle, for a function that cannot be saved, and for a run without a summary.
    """
    folder = Path(FOLDER)
    script = written_down(function, folder)
    path = fleet_file(fleet, folder)
    program = json.dumps([sys.executable, str(script)])
    words = [word for one in (*sets, f"program={program}") for word in ("--set", one)]
    lines, code = shown([program_path(), "run", path, *words])
    saved = [match.group(1) for match in map(SAVED.match, lines) if match]
    summary = Path(saved[-1]) / "summary.json" if saved else None
    if summary is None or not summary.exists():
        raise Error(f"the run ended with code {code}, and left no summary; what it said stands above")
    return {**json.loads(summary.read_text()), "folder": saved[-1]}


def written_down(function: Callable[[], Any], folder: Path) -> Path:
    """Writes a function and the script that calls it; returns the script. Both are named by what the function does."""
    if importlib.util.find_spec("cloudpickle") is None:
        raise Error("launch() writes the function down with cloudpickle, which is not installed\n"
                    "help: pip install cloudpickle; or put the function into a script, which the fleet file names")
    import cloudpickle
    try:
        block = cloudpickle.dumps(function)
    except Exception as why:
        raise Error(f"the function cannot be written down: {why}\n"
                    "help: open files, connections and locks inside of it") from None
    name = re.sub(r"\W", "", getattr(function, "__name__", "")) or "function"
    stem = f"{name}-{digest(block)}"
    folder.mkdir(parents=True, exist_ok=True)
    written = (folder / f"{stem}.pickle").absolute()
    written.write_bytes(block)
    script = written.with_suffix(".py")
    paths = [str(Path(path).absolute()) for path in (Path(__file__).parents[1], *sys.path)]
    script.write_text(SCRIPT.format(name=name, paths=list(dict.fromkeys(paths)), written=str(written)))
    return script


def fleet_file(fleet: Fleet, folder: Path) -> str:
    """Returns the path of a fleet file; keys are written to one, for JSON is YAML."""
    if not isinstance(fleet, Mapping):
        return os.fspath(fleet)
    text = json.dumps({"version": 1, **fleet}, indent=1)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"fleet-{digest(text.encode())}.yaml"
    path.write_text(text + "\n")
    return str(path)


def digest(block: bytes) -> str:
    """Returns what tells one content from another, short enough for a file's name."""
    import hashlib     # here, as below: importing these would be a third of what importing this package takes
    return hashlib.sha256(block).hexdigest()[:12]


def call(written: str) -> None:
    """Calls the function that was written down; what the script of a peer does."""
    import pickle
    pickle.loads(Path(written).read_bytes())()


def shown(command: Sequence[str]) -> "tuple[List[str], int]":
    """Runs a command, prints its lines as they come, and returns them with its exit code.

    A first interrupt is handed on, so that the run ends in order; a second one ends the waiting too. The command is in
    a session of its own, or else a terminal's Ctrl-C would come to it twice.
    """
    import signal
    import subprocess
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               text=True, start_new_session=True)
    lines: List[str] = []
    interrupts = 0
    while True:
        try:
            line = process.stdout.readline()
            if not line:
                return lines, process.wait()
            lines.append(line)
            sys.stdout.write(line)
            sys.stdout.flush()
        except KeyboardInterrupt:
            interrupts += 1
            process.send_signal(signal.SIGINT)
            if interrupts > 1:
                raise
