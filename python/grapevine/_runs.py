"""Runs as tables: what each evaluation and each run said, beside the keys of its fleet file."""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Union

from grapevine._errors import Error

DEPTH = 4      # of folders, from the one that is given down to a run's
Row = Dict[str, Any]


def runs(*folders: Union[str, os.PathLike], what: str = "metrics") -> Any:
    """Returns a table of the runs in these folders. A folder is a run, or holds runs, as a sweep's does.

    what: "metrics" for a row per evaluation, with the keys of metrics.jsonl; "summary" for a row per run that has
    ended, with the keys of summary.json.

    The first column is `run`, the folder's name. The last columns are the keys of the fleet file, such as
    "train.batch". Numbers are numbers. A nested object such as "states" gets a column for each part: "states.compute".
    If a figure and a key have the same name (`peers`), the column is the figure. A missing value is None.

    The table is a pandas.DataFrame if pandas is installed, else a dictionary of columns, each a list.
    Raises Error for a folder without runs and for a file that is not JSON.
    """
    if what not in ("metrics", "summary"):
        raise Error(f"what={what!r}: there are metrics and summary")
    found = [run for folder in folders for run in run_folders(Path(folder))]
    rows = [row for run in found for row in rows_of(run, what)]
    return table(rows)


def run_folders(folder: Path) -> List[Path]:
    """Returns the run folders at and below a folder, by name."""
    found = sorted(place.parent for depth in range(DEPTH) for place in folder.glob("*/" * depth + "run.json"))
    if not found:
        raise Error(f"{folder} holds no run: there is no run.json in it, nor below")
    return found


def rows_of(run: Path, what: str) -> Iterator[Row]:
    """Gives the rows of one run."""
    keys = {key: number(value) for key, value in read(run / "run.json").get("keys", {}).items()}
    events = [run / "summary.json"] if what == "summary" else [run / "metrics.jsonl"]
    wanted = "summary" if what == "summary" else "evaluate"
    for path in events:
        for event in lines(path) if path.exists() else ():
            if event.pop("event", None) == wanted:
                row = {"run": run.name, **flat(event)}
                yield {**row, **{key: value for key, value in keys.items() if key not in row}}


def lines(path: Path) -> Iterator[Row]:
    """Gives the objects of a file with one a line; the last line of a run that goes on may be half of one."""
    text = path.read_text()
    for at, line in enumerate(text.splitlines(), 1):
        try:
            yield json.loads(line)
        except ValueError as why:
            if not text.endswith("\n") and at == text.count("\n") + 1:
                return
            raise Error(f"{path}:{at}: no JSON: {why}") from None


def read(path: Path) -> Row:
    try:
        return json.loads(path.read_text())
    except ValueError as why:
        raise Error(f"{path}: no JSON: {why}") from None


def flat(value: Row, before: str = "") -> Row:
    """Returns nested objects as one: {"states": {"mix": 1}} is {"states.mix": 1}."""
    result: Row = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            result.update(flat(inner, f"{before}{name}."))
        else:
            result[before + name] = inner
    return result


def number(text: str) -> Any:
    """Returns a key's value as an integer or a float where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def table(rows: List[Row]) -> Any:
    """Returns rows as columns, in the order in which they first appear."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    if importlib.util.find_spec("pandas") is None:
        return columns
    import pandas
    return pandas.DataFrame(columns)
