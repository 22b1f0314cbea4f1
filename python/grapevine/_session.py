"""One peer of a fleet: the calls of the library with Python's types."""

import ctypes
import json
from ctypes import byref, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from grapevine import _library as lib
from grapevine._errors import Error

WAIT_MS = 100      # after so long a wait comes back, so that Python sees its signals
INFO_ROOM = 1 << 16


class Tensor(NamedTuple):
    """Where one tensor of the model lies: shape and strides in elements, its type's name, its first byte's address."""

    name: str
    type: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    address: int


class Told(NamedTuple):
    """What the program says at the end of a turn; None leaves it as it was told last.

    loss: mean over the minibatch of this turn's gradient, may be NaN. rate: of the optimizer's next step, above 0.
    samples: in that minibatch. test_loss, accuracy (0 to 1): of this peer's model.
    """

    loss: Optional[float] = None
    rate: Optional[float] = None
    samples: Optional[int] = None
    test_loss: Optional[float] = None
    accuracy: Optional[float] = None

    def as_c(self) -> lib.CTold:
        told = lib.CTold(size=ctypes.sizeof(lib.CTold))
        for bit, name in enumerate(("loss", "rate", "samples", "test_loss", "accuracy")):
            value = getattr(self, name)
            if value is not None:
                told.has |= 1 << bit
                setattr(told, name, value)
        return told


def encoded(options: Dict[str, Any]) -> bytes:
    """Returns the members that are there as a JSON text."""
    return json.dumps({name: value for name, value in options.items() if value is not None}).encode()


def written(function: Any, handle: c_void_p) -> Dict[str, Any]:
    """Returns the object that a function of the library writes, however long it is."""
    room = INFO_ROOM
    while True:
        text = ctypes.create_string_buffer(room)
        code = function(handle, text, room)
        if code != lib.ROOM:
            lib.checked(code, None)
            return json.loads(text.value)
        room *= 4


class Session:
    """A peer that was opened. All calls but `info`, `say` are for the thread that opened it."""

    def __init__(self, options: Dict[str, Any]) -> None:
        """Opens the peer that `options` name (members as of gv_open; none: the environment decides)."""
        self._lib = lib.load()
        self._peer = c_void_p()
        lib.checked(self._open(encoded(options), byref(self._peer)), None)

    def _open(self, options: bytes, peer: Any) -> int:
        return self._lib.gv_open(options, peer)

    def info(self) -> Dict[str, Any]:
        """Returns what gv_info says: who this peer is and what its algorithm wants of the program."""
        return written(self._lib.gv_info, self._peer)

    def rows(self, samples: int, labels: Optional[Sequence[int]] = None) -> List[int]:
        """Returns this peer's share of so many samples, ascending; labels: a class for each, where they are needed."""
        if labels is not None and len(labels) != samples:
            raise Error(f"{len(labels)} labels of {samples} samples")
        classes = None if labels is None else (c_int32 * samples)(*labels)
        count = c_size_t(samples)
        rows = (c_uint32 * samples)()
        lib.checked(self._lib.gv_rows(self._peer, classes, samples, rows, byref(count)), self._peer)
        return rows[: count.value]

    def attach(self, tensors: Sequence[Tensor], options: Dict[str, Any]) -> int:
        """Says where the parameters lie; returns the port at which the peer listens, 0 where it does not."""
        of_c = (lib.CTensor * len(tensors))()
        for target, tensor in zip(of_c, tensors):
            dims = len(tensor.shape)
            target.name, target.type, target.dims = tensor.name.encode(), tensor.type.encode(), dims
            target.shape, target.strides = (c_int64 * dims)(*tensor.shape), (c_int64 * dims)(*tensor.strides)
            target.data = tensor.address or None
        return lib.checked(
            self._lib.gv_attach(self._peer, of_c, len(tensors), json.dumps(options).encode()), self._peer)

    def begin(self, addresses: Optional[List[Dict[str, Any]]] = None) -> None:
        """Begins to train; addresses: {"peer", "host", "port"} of all peers, None where the fleet knows them."""
        text = None if addresses is None else json.dumps(addresses).encode()
        lib.checked(self._lib.gv_begin(self._peer, text), self._peer)

    def turn(self, told: Optional[Told], timeout_ms: int = WAIT_MS) -> int:
        """Ends the turn at hand where `told` is there; returns the next turn, NONE where none came in time."""
        done = None if told is None else byref(told.as_c())
        return lib.checked(self._lib.gv_turn(self._peer, done, timeout_ms), self._peer)

    def point(self, what: int, addresses: Sequence[int]) -> None:
        """Says where the PARAMETERS have moved, or where the GRADIENTS of this turn lie, in the order of attach."""
        pointers = (c_void_p * len(addresses))(*[address or None for address in addresses])
        lib.checked(self._lib.gv_point(self._peer, what, pointers, len(addresses)), self._peer)

    def give_state(self, state: bytes) -> None:
        """Gives the program's state to the checkpoint of the turn SAVE."""
        length = c_size_t(len(state))
        lib.checked(self._lib.gv_state(self._peer, 1, ctypes.cast(state, c_void_p), byref(length)), self._peer)

    def take_state(self) -> bytes:
        """Returns, once, the program's state that a checkpoint held; empty where there is none."""
        length = c_size_t(0)
        lib.checked(self._lib.gv_state(self._peer, 0, None, byref(length)), self._peer)
        if length.value == 0:
            return b""
        room = ctypes.create_string_buffer(length.value)
        lib.checked(self._lib.gv_state(self._peer, 0, room, byref(length)), self._peer)
        return room.raw[: length.value]

    def say(self, **words: Any) -> None:
        """Says log={name: number}, figures={name: number}, text=line or stop=True; from any thread."""
        lib.checked(self._lib.gv_say(self._peer, json.dumps(words).encode()), self._peer)

    def verb(self, call: lib.CCall, where: int, length: int, timeout_ms: int = WAIT_MS) -> int:
        """Makes a call of all peers about `length` bytes at an address; returns OK, MORE (call again) or STOPPED."""
        call.size = ctypes.sizeof(lib.CCall)
        return lib.checked(self._lib.gv_verb(self._peer, byref(call), where or None, length, timeout_ms), self._peer)

    def push(self, call: lib.CCall, where: int, length: int) -> int:
        """Pushes `length` bytes at an address to peer `call.root`; returns the handle."""
        call.size, handle = ctypes.sizeof(lib.CCall), ctypes.c_uint64()
        lib.checked(self._lib.gv_push(self._peer, byref(call), where or None, length, byref(handle)), self._peer)
        return handle.value

    def pull(self, call: lib.CCall, length: int) -> int:
        """Asks peer `call.root` for `length` bytes; returns the handle."""
        call.size, handle = ctypes.sizeof(lib.CCall), ctypes.c_uint64()
        lib.checked(self._lib.gv_pull(self._peer, byref(call), length, byref(handle)), self._peer)
        return handle.value

    def wait(self, handle: int, where: int, length: int, timeout_ms: int = WAIT_MS) -> int:
        """Waits for a push or a pull, whose bytes go to an address; returns OK, MORE (call again) or STOPPED."""
        return lib.checked(self._lib.gv_wait(self._peer, handle, where or None, length, timeout_ms), self._peer)

    def fork(self, phase: int) -> None:
        """Tells the library of a fork. It cannot be refused any more, so that a failure has no way out."""
        self._lib.gv_fork(self._peer, phase)

    def finish(self, timeout_ms: int = WAIT_MS) -> bool:
        """Leaves in order; False where the time was over before the work."""
        return lib.checked(self._lib.gv_finish(self._peer, timeout_ms), self._peer) == lib.OK

    def close(self) -> None:
        """Frees the peer; without `finish` its neighbours see it die."""
        self._lib.gv_close(self._peer)
        self._peer = c_void_p()
