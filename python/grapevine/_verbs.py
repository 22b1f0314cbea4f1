"""What all peers do together beside the method: sums, means, broadcasts, barriers. Every peer makes the same calls."""

import ctypes
import json
from array import array
from typing import Any, Dict, Optional

from grapevine import _library as lib
from grapevine import _process
from grapevine._errors import Disagreement, Error, Stopped
from grapevine._peer import address

VERBS = {"sum": lib.SUM, "mean": lib.MEAN, "average": lib.MEAN}
TYPES = {"f": lib.FLOAT32, "d": lib.FLOAT64}
WHOLE = ("q", "l")      # of eight bytes


def allreduce(array: Any, op: str = "mean", name: Optional[str] = None) -> Any:
    """Replaces an array by the mean, or the "sum", of all peers' arrays, with the same bits at each. Returns the array.

    array: writable and dense, of float32, float64 or int64 (int64 has a sum but no mean).
    name: label of the call; all peers must use the same.

    Returns when all peers have called it. Raises PeerLost if a peer has died or left, Disagreement if a peer made
    another call, Stopped if the fleet has stopped.
    """
    return on_buffer(verb_of(op), array, name=name)


def broadcast(array: Any, root: int = 0, name: Optional[str] = None) -> Any:
    """Replaces an array, of any type, by the array of peer `root`. Returns the array; raises as allreduce does."""
    return on_buffer(lib.BROADCAST, array, root, name)


def neighbor_average(array: Any, name: Optional[str] = None) -> Any:
    """Replaces an array by the weighted sum of the neighbours' arrays and its own. Returns the array.

    The weights are those of the fleet's graph. Waits only for the neighbours. Raises Error if the graph changes with
    the rounds or has no weights, and otherwise the same exceptions as allreduce.
    """
    return on_buffer(lib.NEIGHBOR_AVERAGE, array, name=name)


def barrier(name: Optional[str] = None) -> None:
    """Waits until all peers have called it. Raises the same exceptions as allreduce."""
    together(lib.BROADCAST, lib.BYTES, 0, 0, name=name)


def check_root(root: int, peers: int) -> None:
    """Raises Error if no peer that trains has that number."""
    if not 0 <= root < peers:
        raise Error(f"the root is peer {root}, and those that train are 0 to {peers - 1}")


def verb_of(op: str) -> int:
    """Returns the verb of an operation's name. Raises Error where there is none."""
    if op not in VERBS:
        raise Error(f"op={op!r}: it is \"mean\" or \"sum\", and for tensors of PyTorch also \"min\", \"max\" or "
                    "\"product\"")
    return VERBS[op]


def on_buffer(verb: int, array: Any, root: int = 0, name: Optional[str] = None) -> Any:
    """Makes a call about the memory of an array. Raises Error where that cannot be."""
    view = memoryview(array)
    if view.readonly or not view.contiguous:
        raise Error("the outcome is written into the array: it must be writable and dense")
    if verb == lib.BROADCAST:
        kind = lib.BYTES
    else:
        letter = view.format.lstrip("<=@")
        if letter not in TYPES and not (letter in WHOLE and view.itemsize == 8):
            raise Error(f"an array of {getattr(array, 'dtype', view.format)}: float32, float64 and int64 add up")
        kind = TYPES.get(letter, lib.INT64)
    together(verb, kind, address(array, view), view.nbytes, root, name)
    return array


def together(verb: int, kind: int, where: int, length: int, root: int = 0, name: Optional[str] = None) -> None:
    """Makes a call about `length` bytes in place. Raises Error as allreduce does."""
    process = _process.current()
    if verb == lib.BROADCAST:
        check_root(root, process.info["peers"])
    if not process.attached:
        return gathered(process, {"verb": verb, "type": kind, "size": length, "root": root, "name": name}, where)
    process = joined()
    lends = bool(process.keeps.lends)
    if lends:
        process.keeps.give()        # x may be read meanwhile, where it lies now
    call = lib.CCall(verb=verb, type=kind, root=root, name=None if name is None else name.encode(), lends=lends)
    while (code := process.session.verb(call, where, length)) == lib.MORE:
        pass
    if code == lib.STOPPED:
        raise Stopped()


def gathered(process: _process.Process, call: Dict[str, Any], where: int) -> None:
    """Makes a call before the peers have links: each hands all others its bytes, by files or by how they meet."""
    own = process.info["id"]
    sends = call["verb"] != lib.BROADCAST or call["root"] == own
    data = ctypes.string_at(where, call["size"]) if sends and call["size"] else b""
    heard = [json.loads(text) for text in process.gather(json.dumps({**call, "data": data.hex()}))]
    for i, other in enumerate(heard):
        unlike = [member for member in call if other[member] != call[member]]
        if unlike:
            raise Disagreement(f"peer {i} made another call than peer {own}: its {unlike[0]} is {other[unlike[0]]}, "
                               f"and here it is {call[unlike[0]]}")
    if call["verb"] == lib.NEIGHBOR_AVERAGE or call["verb"] == lib.MEAN and call["type"] == lib.INT64:
        raise Error("neighbours average after DistributedOptimizer, and whole numbers have a sum and no mean")
    blocks = [bytes.fromhex(other["data"]) for other in heard]
    if call["verb"] == lib.BROADCAST:
        result = blocks[call["root"]] if len(blocks) > 1 else data or ctypes.string_at(where, call["size"])
    else:
        letter = {lib.FLOAT32: "f", lib.FLOAT64: "d", lib.INT64: "q"}[call["type"]]
        share = len(blocks) if call["verb"] == lib.MEAN else 1
        sums = map(sum, zip(*(array(letter, block) for block in blocks)))
        result = array(letter, [total if share == 1 else total / share for total in sums]).tobytes()
    ctypes.memmove(where, result, call["size"])


def joined() -> _process.Process:
    """Returns the peer of this process. Raises Error before it has its model."""
    process = _process.current()
    if not process.attached:
        raise Error("what all peers do together comes after DistributedOptimizer, or grapevine.Peer: until then a peer "
                    "has no links")
    process.progress.behind()       # neighbours may be at a turn that comes after this peer's checkpoint
    return process
