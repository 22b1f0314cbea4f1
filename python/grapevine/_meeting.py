"""How peers that nobody launches together learn each other's addresses: one function, all_gather(text) -> texts."""

import atexit
import itertools
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from grapevine._errors import Disagreement, Error, PeerLost

PATIENCE_S = 120.0     # for the slowest of the peers to begin
LOOPBACK = "127.0.0.1"


class Launched(NamedTuple):
    """What torchrun says of this process."""

    id: int
    size: int
    listen: Optional[str]
    all_gather: Callable[[str], Sequence[str]]


Shapes = List[Tuple[str, List[int]]]        # of the tensors that travel, by their names


def difference(mine: Shapes, theirs: Shapes) -> str:
    """Returns the first tensor in which two models differ, as a sentence's part; "" if they are alike."""
    for k in range(max(len(mine), len(theirs))):
        here, there = (f"{each[k][0]} {list(each[k][1])}" if k < len(each) else "nothing" for each in (mine, theirs))
        if here != there:
            return f"tensor {k} is {there} there, and {here} here"
    return ""


def check_start(path: Optional[str], mine: Shapes) -> None:
    """Raises Disagreement if this peer's tensors are not those of the file with which its launcher begins."""
    if path is None or not Path(path).exists():
        return
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(length)).get("__metadata__", {}).get("program")
    if about is None:
        return
    first = [(each["name"], each["shape"]) for each in json.loads(about)["parameters"]]
    unlike = difference(mine, first)
    if unlike:
        raise Disagreement(f"this peer trains other tensors than the script did when it was started first: {unlike}\n"
                           "help: all peers make the same layers in the same order: no rank, set or random number may "
                           "choose them")


def addresses(all_gather: Callable[[str], Sequence[str]], info: Dict[str, Any], listen: Optional[str] = None,
              tensors: Shapes = ()) -> List[Dict[str, Any]]:
    """Gathers where all peers listen: {"peer", "host", "port"} of each. listen: what this one was told, "HOST:PORT".

    Raises Disagreement where another has other tensors, or began with other values although none of the two goes on
    from anywhere.
    """
    mine = {"peer": info["id"], "host": own_host(listen), "port": info["port"], "model": info["model"],
            "start": None if info["rejoined"] else info["start"], "tensors": tensors}
    others = [json.loads(text) for text in all_gather(json.dumps(mine))]
    if sorted(other["peer"] for other in others) != list(range(info["peers"])):
        raise Disagreement(f"the peers {sorted(other['peer'] for other in others)} met, and the fleet has "
                           f"{info['peers']}")
    for other in others:
        if other["model"] != mine["model"]:
            unlike = difference(tensors, other.get("tensors", ()))
            raise Disagreement(f"peer {other['peer']} trains other tensors than peer {mine['peer']}"
                               + (f": {unlike}" if unlike else ""))
        if None not in (other["start"], mine["start"]) and other["start"] != mine["start"]:
            raise Disagreement(f"peer {other['peer']} begins with other values than peer {mine['peer']}\n"
                               "help: make the model after init(), which seeds all peers alike, or give model.start")
    return [{"peer": other["peer"], "host": other["host"], "port": other["port"]} for other in others]


def own_host(listen: Optional[str] = None) -> str:
    """Returns the address by which others reach this peer: where it listens, if that is one address; else that by which
    the peer at MASTER_ADDR sees this machine; loopback where nobody else is named.
    """
    host = (listen or "").rpartition(":")[0].strip("[]")
    if host not in ("", "0.0.0.0", "::"):
        return host
    master = os.environ.get("MASTER_ADDR")
    found = way_to(master or LOOPBACK) or (None if master else "::1")
    if found is None:
        raise Error(f"this machine has no way to MASTER_ADDR, which is {master}\n"
                    "help: give init() listen=\"HOST:0\", the address at which the others find this machine")
    return found


def way_to(name: str) -> Optional[str]:
    """Returns the address of this machine by which it goes to that one, by IPv4 if it can; None: there is no way."""
    import socket
    try:
        found = socket.getaddrinfo(name, 9, type=socket.SOCK_DGRAM)
    except OSError:
        return None
    for family, kind, _, _, address in sorted(found, key=lambda row: row[0] != socket.AF_INET):
        try:
            with socket.socket(family, kind) as probe:
                probe.connect(address)     # sends nothing: it only chooses the road
                own, scope = probe.getsockname()[0], (*probe.getsockname(), 0, 0)[3]
        except OSError:
            continue
        local = own.startswith("fe80:") and "%" not in own
        return f"{own}%{socket.if_indextoname(scope)}" if local else own
    return None


def host_port(host: str, port: int) -> str:
    """Returns "10.0.0.7:27000" or "[fd00::7]:27000"."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def in_folder(folder: "str | os.PathLike", id: int, peers: int,
              patience_s: float = PATIENCE_S) -> Callable[[str], Sequence[str]]:
    """Returns an all_gather by files of a folder that all peers can write, one file a peer and call.

    A folder serves one meeting: files of an earlier one would be believed.
    """
    calls = itertools.count()

    def all_gather(text: str) -> Sequence[str]:
        place, call = Path(folder), next(calls)
        end = f"-{call}.json" if call else ".json"
        place.mkdir(parents=True, exist_ok=True)
        written = place / f".peer-{id}"
        written.write_text(text)
        written.rename(place / f"peer-{id}{end}")
        waited = time.monotonic() + patience_s
        names = [place / f"peer-{other}{end}" for other in range(peers)]
        while missing := [name.stem for name in names if not name.exists()]:
            if time.monotonic() > waited:
                raise PeerLost(f"{', '.join(missing)} did not come to {place} within {patience_s:.0f} s")
            time.sleep(0.01)
        return [name.read_text() for name in names]
    return all_gather


def before_links(info: Dict[str, Any], meet: Optional[Callable[[str], Sequence[str]]]
                 ) -> Optional[Callable[[str], Sequence[str]]]:
    """Returns an all_gather for what peers do together before they have links; None if there is no way.

    There is one if somebody said how the peers meet, and if their launcher has started all of them on this machine.
    The program that runs before there are peers is alone.
    """
    if info["task"] != "peer" or info["peers"] == 1:
        return lambda text: [text]
    if meet is not None:
        return meet
    launcher = launched_by() if info["control"] and info["local_peers"] == info["peers"] else None
    if launcher is None:
        return None
    folder = Path(tempfile.gettempdir()) / f"grapevine-{os.getuid()}-{launcher}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise Error(f"{folder} belongs to another user")
    if info["id"] == 0:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return in_folder(folder, info["id"], info["peers"], float("inf"))


def launched_by() -> Optional[str]:
    """Returns what tells the launcher of this process from all others: its number and when it began."""
    pid = os.getppid()
    while pid > 1:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        fields = rest.split()
        if name.endswith("(grapevine"):
            return f"{pid}-{fields[19]}"
        pid = int(fields[1])
    return None


def by_torchrun(fleet: Any, id: Optional[int]) -> Optional[Launched]:
    """Reads what torchrun put into the environment; None where it, or a launcher of ours, did not start the script."""
    environment = os.environ
    if id is not None or "GRAPEVINE_PEER" in environment or not {"RANK", "WORLD_SIZE"} <= set(environment):
        return None
    size = int(environment["WORLD_SIZE"])
    if fleet is None and "GRAPEVINE_FLEET" not in environment:
        if size == 1:
            return None
        raise Error(f"torchrun started {size} processes, and init() names no fleet\nhelp: init(\"fleet.yaml\")")
    rank = int(environment["RANK"])
    return Launched(rank, size, host_port(own_host(), 0), in_torch_store(rank, size))


def check_size(started: int, peers: int) -> None:
    """Raises Disagreement where the fleet file has another number of peers than were started."""
    if started != peers:
        raise Disagreement(f"torchrun started {started} processes, and the fleet has {peers} peers\n"
                           f"help: init(..., sets=[\"peers={started}\"]), or --nproc-per-node")


_stores: List[Any] = []     # one of the peers may serve the store, and others ask it later


def in_torch_store(rank: int, size: int) -> Callable[[str], Sequence[str]]:
    """Returns an all_gather by the TCPStore of torchrun, at MASTER_ADDR and MASTER_PORT."""
    calls = itertools.count()

    def all_gather(text: str) -> Sequence[str]:
        import torch.distributed
        call = next(calls)
        store = _stores[-1] if call else next(torch.distributed.rendezvous("env://"))[0]
        if not call:
            _stores.append(store)
        store.set(f"grapevine/{call}/{rank}", text)
        return [store.get(f"grapevine/{call}/{other}").decode() for other in range(size)]
    return all_gather
