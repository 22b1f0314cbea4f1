"""A peer over plain buffers: NumPy's arrays, array.array, or whatever else has the buffer protocol."""

import ctypes
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from grapevine import _process
from grapevine._errors import Error, Stopped
from grapevine._session import Tensor, Told
from grapevine._turns import Evaluations, Turns

ITEM = 4     # bytes of a float32
Arrays = Union[Mapping[str, Any], Sequence[Any]]


class Peer:
    """The parameters of a model as a peer of a fleet.

        peer = grapevine.Peer([weights, bias], evaluate=lambda: loss(test))
        while peer.running:
            loss, gradients = ...                       # at the values that the arrays hold now
            if peer.before(loss, gradients):
                weights -= rate * gradients[0] ...      # in place
            peer.after()

    Outside `before` and `after`, the arrays belong to the script; within these two calls, the fleet's values are
    written into them. `grapevine.allreduce` and similar calls may also write into them, if the method answers
    neighbours outside its turns (ad-psgd).
    """

    def __init__(self, arrays: Arrays, names: Optional[Sequence[str]] = None,
                 evaluate: Optional[Callable[[], Any]] = None,
                 state: Optional[Tuple[Callable[[], bytes], Callable[[bytes], None]]] = None,
                 rate: Optional[float] = None, optimizer: str = "", lends: bool = True) -> None:
        """Joins the fleet; returns when the neighbours are there.

        arrays: writable, dense, float32, of any shapes, the same in each peer; a mapping also gives their names.
        evaluate: returns the test loss at the arrays' values, (loss, accuracy) or a dictionary of numbers.
        state: (save, load): save returns bytes for a checkpoint, and load takes them back.
        rate: learning rate of the first step, if the method needs it.
        optimizer: name of the optimizer, shown in the record.
        lends: False if the arrays are copies of the trained values, and hold them only within `before` and `after`.

        Raises Error for an array that cannot be exchanged, Disagreement if another peer has other arrays, PeerLost if
        the neighbours do not come.
        """
        if not _process.initialized():
            _process.init()
        process = _process.current()
        if process.attached:
            raise Error("this process is a peer already: one process, one model")
        self._process, self._state, self._evaluate, self.lends = process, state, evaluate, lends
        self._arrays = named(arrays, names)
        self._evaluations = Evaluations(process.session, process.patience)
        process.keeps = self
        process.attach([described(name, array) for name, array in self._arrays.items()],
                       {"evaluates": evaluate is not None, "saves": state is not None, "optimizer": optimizer})
        self._restore()
        sizes = [memoryview(array).nbytes // ITEM for array in self._arrays.values()]
        self._turns = Turns(process.session, self, sizes)
        process.begin()
        process.progress.over = lambda: self._turns.over
        process.progress.behind = self._turns.go_on
        self._turns.start(Told(rate=rate))
        if process.info["task"] == "ask":
            raise Stopped()

    @property
    def running(self) -> bool:
        """Returns whether the fleet is still training."""
        return not self._turns.over

    @property
    def info(self) -> Dict[str, Any]:
        """Returns this peer's "id", "peers", "neighbors" [{"peer", "weight"}], "round", "batch", "seed" ..."""
        return self._process.session.info()

    def before(self, loss: float, gradients: Optional[Sequence[Any]] = None, *, rate: Optional[float] = None,
               samples: Optional[int] = None) -> bool:
        """Call this before the optimizer's step. It makes the exchange that comes before the step.

        loss: mean over the minibatch.
        gradients: a float32 array for each parameter, of the same shape. Needed if the method reads gradients; a method
        that changes them does so in place.
        rate: learning rate of the coming step, if the method needs it.
        samples: number of samples in the minibatch.

        Returns False if the script must not step, because the servers have stepped or the fleet has stopped.
        """
        wanted = self._process.info["gradients"] != "kept"
        if wanted and gradients is None:
            raise Error(f"{self._process.info['algorithm']} reads the gradients: before(loss, gradients)")
        addresses = gradient_addresses(self._arrays, gradients) if wanted and gradients is not None else None
        return self._turns.before(Told(loss=float(loss), rate=rate, samples=samples), addresses)

    def after(self) -> bool:
        """Call this after the optimizer's step. Returns False if the fleet has stopped; the arrays are then final."""
        return self._turns.after()

    def log(self, **scalars: float) -> None:
        """Records numbers of this round in the peer's folder."""
        self._process.session.say(log=scalars)

    def stop(self) -> None:
        """Leaves the fleet after this round; `after` then returns False."""
        self._process.session.say(stop=True)

    def give(self) -> None:
        """Does nothing: the library reads the arrays where they lie."""

    def take(self) -> None:
        """Does nothing: the library has written into the arrays."""

    def settle(self) -> None:
        """Does nothing: nobody else reads the arrays."""

    def leave(self, limit: float) -> None:
        """Tells the others that this peer makes no further step; see Turns."""
        self._turns.leave(limit)

    def evaluate(self) -> Told:
        """Answers the turn of an evaluation."""
        return self._evaluations.told(self._evaluate)

    def waits(self) -> bool:
        """Says whether the script comes back for its next batch."""
        return self._process.progress.within

    def save(self) -> bytes:
        """Answers the turn before a checkpoint."""
        return self._state[0]() if self._state else b""

    def _restore(self) -> None:
        kept = self._process.session.take_state()
        if kept and self._state:
            self._state[1](kept)


def named(arrays: Arrays, names: Optional[Sequence[str]]) -> Dict[str, Any]:
    """Returns the arrays by their names: those of the mapping, those given, or x0, x1 ..."""
    if isinstance(arrays, Mapping):
        return dict(arrays)
    arrays = list(arrays)
    names = [f"x{i}" for i in range(len(arrays))] if names is None else list(names)
    if len(names) != len(arrays) or len(set(names)) != len(names):
        raise Error(f"{len(names)} names, {len(set(names))} of them different, for {len(arrays)} arrays")
    return dict(zip(names, arrays))


def described(name: str, array: Any) -> Tensor:
    """Says where an array lies. Raises Error where it is not writable, dense and float32."""
    try:
        view = memoryview(array)
    except TypeError:
        raise Error(f"{name}: {type(array).__name__} gives no buffer that could be written") from None
    if view.readonly:
        raise Error(f"{name} is read-only: the fleet's values are written into it")
    if view.format not in ("f", "<f", "=f"):
        raise Error(f"{name} holds {getattr(array, 'dtype', view.format)}: parameters travel as float32")
    if not view.contiguous:
        raise Error(f"{name} has gaps: a copy of its own is dense")
    strides = tuple(step // ITEM for step in view.strides or ())
    return Tensor(name, "float32", tuple(view.shape or ()), strides, address(array, view))


def address(array: Any, view: memoryview) -> int:
    """Returns where the first element lies; 0 where there are none."""
    if view.nbytes == 0:
        return 0
    known: List[int] = list(getattr(array, "__array_interface__", {}).get("data", ()))[:1]
    return known[0] if known else ctypes.addressof(ctypes.c_char.from_buffer(view))


def gradient_addresses(arrays: Mapping[str, Any], gradients: Sequence[Any]) -> List[int]:
    """Returns where the gradients lie. Raises Error where one has not the layout of its parameter."""
    if len(gradients) != len(arrays):
        raise Error(f"{len(gradients)} gradients of {len(arrays)} parameters")
    found = []
    for (name, array), gradient in zip(arrays.items(), gradients):
        mine, its = described(name, array), described(f"the gradient of {name}", gradient)
        if (mine.shape, mine.strides) != (its.shape, its.strides):
            raise Error(f"{its.name} has the shape {list(its.shape)} and strides {list(its.strides)}, and {name} has "
                        f"{list(mine.shape)} and {list(mine.strides)}")
        found.append(its.address)
    return found
