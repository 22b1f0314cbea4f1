"""What Spark and Ray share: a fleet that travels to their tasks, and a task that is a peer for a while."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, NamedTuple, Sequence

from grapevine import _process
from grapevine._errors import Error, Stopped
from grapevine._launch import Fleet
from grapevine._meeting import LOOPBACK, host_port, own_host, way_to
from grapevine._process import AllGather
from grapevine._session import Session

FUNCTION = 'program=["function"]'     # what trains, as the fleet file would name a script


class Travels(NamedTuple):
    """A fleet, as it goes to each task in the engine's own closure."""

    text: str
    sets: Sequence[str]
    peers: int
    keys: Mapping[str, bytes]      # of each peer, by the names of their files


def travelling(fleet: Fleet, sets: Sequence[str] = ()) -> Travels:
    """Returns a fleet that can travel, with new keys. Raises Error for what is wrong with it.

    fleet: path of a fleet file, or its keys as a dictionary. What the file names beside itself must be found by its
    name on each machine.
    """
    text = json.dumps({"version": 1, **fleet}) if isinstance(fleet, Mapping) else Path(os.fspath(fleet)).read_text()
    sets = [*sets, FUNCTION]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.yaml"
        path.write_text(text)
        asked = Session({"fleet": str(path), "sets": sets, "id": 0, "listen": "localhost:0", "log": "none"})
        try:
            info = asked.info()
        finally:
            asked.close()
        refuse_servers(info)
        return Travels(text, sets, info["peers"], new_keys(path, sets))


def refuse_servers(info: Dict[str, Any]) -> None:
    """Raises Error for a method whose servers would be processes that the engine does not start."""
    if info["processes"] > info["peers"]:
        raise Error(f"{info['algorithm']} has {info['processes'] - info['peers']} servers, and here each process "
                    "trains\nhelp: a method without servers, or `grapevine run`")


def new_keys(fleet: Path, sets: Sequence[str]) -> Dict[str, bytes]:
    """Makes keys for a run; none of them is written to a disk of another machine than its peer's."""
    from grapevine._program import answer
    folder = fleet.parent / "keys"
    words = [word for one in sets for word in ("--set", one)]
    answer("keygen", str(fleet), "-o", str(folder), *words)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def be_peer(fleet: Travels, id: int, all_gather: AllGather, train: Callable[..., Any], *arguments: Any) -> Any:
    """Makes this process peer `id`, calls train(*arguments) and leaves the fleet; returns what that returned.

    The fleet's hash of tensors and values goes through all_gather, and so do the addresses of the machines.
    """
    hosts = all_gather(machine())
    before = os.environ.get("MASTER_ADDR")
    if len(set(hosts)) > 1:
        os.environ["MASTER_ADDR"] = hosts[0]      # the road to it says by which address others see this machine
    else:
        os.environ.pop("MASTER_ADDR", None)
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "fleet.yaml").write_text(fleet.text)
            name = f"peer-{id}.pem"
            (place / name).touch(mode=0o600)
            (place / name).write_bytes(fleet.keys[name])
            _process.init(place / "fleet.yaml", id, meet=all_gather, keys=place, sets=fleet.sets,
                          listen=host_port(own_host(), 0))
            return called(train, *arguments)
    finally:
        os.environ.pop("MASTER_ADDR", None)
        if before is not None:
            os.environ["MASTER_ADDR"] = before


def called(train: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the function; its end is the peer's goodbye, its failure the peer's death."""
    process = _process.current()
    try:
        return train(*arguments)
    except Stopped:
        return None
    except BaseException:
        process.failed = True
        raise
    finally:
        _process.shutdown()


def machine() -> str:
    """Returns the address by which this machine goes out, as others may see it."""
    return way_to("192.0.2.1") or way_to("2001:db8::1") or LOOPBACK     # for documentation: nothing is sent
