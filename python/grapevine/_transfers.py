"""What one peer pushes to a neighbour, which pulls it: beside the method, at any round."""

from typing import Any, Callable, Optional

from grapevine import _library as lib
from grapevine import _process
from grapevine._errors import Error, Stopped
from grapevine._peer import address
from grapevine._verbs import TYPES, WHOLE, joined


class Handle:
    """A push or a pull in progress; `wait` ends it."""

    def __init__(self, number: int, where: int, length: int, done: Callable[[], Any]) -> None:
        self._number, self._where, self._length, self._done = number, where, length, done
        self._process = joined()
        self._result: Any = None
        self._over = False

    def wait(self) -> Any:
        """Returns the pulled data, or None for a push, when the transfer is done. It may be called again.

        Raises PeerLost if the other peer has died or left, Disagreement if its type, size or name differs, Stopped if
        the fleet has stopped.
        """
        if not self._over:
            process = joined()
            if process is not self._process:
                raise Error("this was under way with the peer that was here before")
            if process.keeps.lends:
                process.keeps.give()        # x may be read meanwhile, where it lies now
            while (code := self._ended(process)) == lib.MORE:
                pass
            self._over = True
            if code == lib.STOPPED:
                raise Stopped()
            self._result = self._done()
        return self._result

    def _ended(self, process: _process.Process) -> int:
        try:
            return process.session.wait(self._number, self._where, self._length)
        except Error:
            self._over = True
            raise


def push(array: Any, to: int, name: Optional[str] = None) -> Handle:
    """Pushes an array to neighbour `to`, which pulls it. Returns at once; the array may change right after.

    array: dense, of any type. The nth push to a peer belongs to its nth pull from this peer.
    name: label of the transfer; the pull must have the same.

    Data are sent only when they are pulled, so `wait` for the handle before the script ends.
    Raises Error if the two peers have no link.
    """
    view = memoryview(array)
    if not view.contiguous:
        raise Error("what is pushed must be dense")
    return begun_push(address(array, view), view.nbytes, kind_of(view), to, name)


def pull(array: Any, source: int, name: Optional[str] = None) -> Handle:
    """Pulls from neighbour `source` what it pushes, into an array of the same size. Returns at once.

    array: writable and dense; it holds the data when `wait` returns it. Raises the same exceptions as push.
    """
    view = memoryview(array)
    if view.readonly or not view.contiguous:
        raise Error("what is pulled is written into the array: it must be writable and dense")
    return begun_pull(address(array, view), view.nbytes, kind_of(view), source, name, lambda: array)


def wait(handle: Handle) -> Any:
    """Waits for a push or a pull; returns the pulled data. Raises the same exceptions as Handle.wait."""
    return handle.wait()


def begun_push(where: int, length: int, kind: int, to: int, name: Optional[str]) -> Handle:
    """Pushes `length` bytes. Raises Error where that cannot be."""
    return Handle(joined().session.push(call_of(kind, to, name), where, length), 0, 0, lambda: None)


def begun_pull(where: int, length: int, kind: int, source: int, name: Optional[str], done: Callable[[], Any]) -> Handle:
    """Pulls `length` bytes to an address, of which done() makes what `wait` returns. Raises Error where that cannot
    be.
    """
    return Handle(joined().session.pull(call_of(kind, source, name), length), where, length, done)


def call_of(kind: int, other: int, name: Optional[str]) -> lib.CCall:
    lends = bool(joined().keeps.lends)
    return lib.CCall(verb=0, type=kind, root=other, name=None if name is None else name.encode(), lends=lends)


def kind_of(view: memoryview) -> int:
    letter = view.format.lstrip("<=@")
    if letter in TYPES:
        return TYPES[letter]
    return lib.INT64 if letter in WHOLE and view.itemsize == 8 else lib.BYTES
