"""The turns of a peer, as two calls around the optimizer's step."""

import contextlib
import ctypes
import itertools
import math
import os
import struct
import sys
import threading
import time
from typing import Iterator, List, Optional, Protocol, Sequence

from grapevine import _library as lib
from grapevine._errors import Error
from grapevine._session import Session, Told


STUCK = 70      # exit code of a peer whose evaluate does not end


class Program(Protocol):
    """What the turns ask of a program."""

    def give(self) -> None:
        """Makes the tensors' memory hold x, before the library reads it."""

    def take(self) -> None:
        """Makes the program's own parameters what lies in that memory, after the library wrote it."""

    def settle(self) -> None:
        """Makes sure that nothing reads the memory any more: the library writes it when the turn has ended."""

    def evaluate(self) -> Told:
        """Looks at x with the test set."""

    def waits(self) -> bool:
        """Says whether code of this batch is still to come, which belongs into a checkpoint, and then `go_on`."""

    def save(self) -> bytes:
        """Returns the state from which the program goes on."""


class Farewell:
    """Gradients of a peer whose script ends where the method adds up those of all: infinities of changing sign, which
    no script computes. The mean holds them too, so that nobody steps by a sum that lacks this peer's share.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        """sizes: of the tensors, in elements. Signs alternate over all tensors, because each may have one element."""
        self._parts = list(zip(sizes, itertools.accumulate(sizes, initial=0)))
        self._first = next((i for i, size in enumerate(sizes) if size > 0), None)
        self._alone = sum(sizes) == 1
        self._heard = False
        self._kept: List[ctypes.Array] = []

    def addresses(self) -> List[int]:
        """Returns where such gradients lie."""
        self._kept = [ctypes.create_string_buffer(pattern(*part), max(4 * part[0], 1)) for part in self._parts]
        return [ctypes.addressof(kept) for kept in self._kept]

    def heard(self, addresses: Sequence[int]) -> bool:
        """Says whether the means at these addresses are such gradients.

        An infinity of the only element may also be a peer's own gradient: two in a row are no farewell, because the
        round after a farewell lacks that peer and ends.
        """
        found = self._first is not None and math.isinf(ctypes.c_float.from_address(addresses[self._first]).value)
        found = found and all(part[0] == 0 or ctypes.string_at(address, 4 * part[0]) == pattern(*part)
                              for address, part in zip(addresses, self._parts))
        self._heard = found and not (self._alone and self._heard)
        return self._heard


def pattern(size: int, place: int) -> bytes:
    """Returns so many float32 of a farewell, from this element on."""
    return (struct.pack("=2f", math.inf, -math.inf) * (size // 2 + 1))[4 * (place % 2):][:4 * size]


class Turns:
    """Drives one peer: `start`, then `before` and `after` each step. `turn` is the one at hand, lib.OVER at the end."""

    def __init__(self, session: Session, program: Program, sizes: Sequence[int] = ()) -> None:
        """sizes: of the tensors, in elements; where gradients are added up, a peer says with them that it leaves."""
        self._session = session
        self._program = program
        self._farewell = Farewell(sizes if session.info()["algorithm"] == "all-reduce" else ())
        self._told: Optional[Told] = None
        self.turn = lib.NONE
        self.done = 0           # turns of a gradient that have ended

    @property
    def over(self) -> bool:
        return self.turn == lib.OVER

    def start(self, told: Told) -> None:
        """Waits for the neighbours and the first turn; `told` has the rate where the row needs it."""
        self._drive(told)

    def before(self, told: Told, gradients: Optional[List[int]] = None) -> bool:
        """Ends the gradient's turn, so that x is averaged where the row does that before the step.

        gradients: an address for each tensor, where the row reads them. Returns False where the optimizer must not
        step: the servers have stepped, or the fleet has stopped.
        """
        self.go_on()
        if self.turn in (lib.GRADIENT, lib.GRADIENT_AND_STEP):
            self.done += 1
            if gradients is not None:
                self._session.point(lib.GRADIENTS, gradients)
        if self.turn == lib.GRADIENT:
            steps = self._drive(told) == lib.STEP
            if steps and gradients is not None and self._farewell.heard(gradients):
                self.after()
                return self.before(told, gradients)     # of the next round, which ends for want of that peer
            return steps
        self._told = told
        return not self.over

    def after(self) -> bool:
        """Ends the step's turn, and does what is due until the next gradient. Returns False when the fleet stopped."""
        if self.turn == lib.STEP:
            self._drive(Told())
        elif self.turn == lib.GRADIENT_AND_STEP:
            if self._told is None:
                raise Error("after() without before(): each step has both")
            self._drive(self._told)
        self._told = None
        return not self.over

    def leave(self, limit: float) -> None:
        """Tells the others that this peer makes no further step, if they would miss its gradient in theirs.

        limit: of time.monotonic(), when to leave without that.
        """
        if self.turn == lib.GRADIENT and self._session.info()["algorithm"] == "all-reduce":
            self._session.point(lib.GRADIENTS, self._farewell.addresses())
            turn = self._session.turn(Told())
            while turn == lib.NONE and time.monotonic() < limit:
                turn = self._session.turn(None)

    def go_on(self) -> None:
        """Answers a checkpoint that waited for the code behind the step: schedulers and scalers are stepped there."""
        if self.turn == lib.SAVE:
            self._program.give()
            self._await(self._saved())

    def _drive(self, told: Told) -> int:
        self._program.give()
        return self._await(told)

    def _saved(self) -> Told:
        self._session.give_state(self._program.save())
        return Told()

    def _await(self, told: Told) -> int:
        done: Optional[Told] = told
        while True:
            self.turn = self._session.turn(done)
            done = None
            if self.turn == lib.NONE:
                continue
            self._program.take()
            if self.turn == lib.EVALUATE:
                done = self._program.evaluate()
            elif self.turn == lib.SAVE and not self._program.waits():
                done = self._saved()
            else:
                return self.turn
            self._program.settle()


@contextlib.contextmanager
def limited(seconds: Optional[float]) -> Iterator[None]:
    """Ends this process if the code inside takes longer, because the fleet would wait for it for ever. None: never."""
    def end() -> None:
        print(f"evaluate has not ended within {seconds:g} s: this peer ends (faults.stuck_after)", file=sys.stderr,
              flush=True)
        os._exit(STUCK)
    timer = threading.Timer(seconds or 0, end)
    timer.daemon = True
    if seconds:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Evaluations:
    """Turns what a script's `evaluate` returns into figures, and its exceptions into one traceback."""

    def __init__(self, session: Session, limit: Optional[float] = None) -> None:
        """limit: seconds that `told` may take."""
        self._session, self._limit = session, limit
        self._last_failure = ""

    def told(self, evaluate, *arguments) -> Told:
        """Calls evaluate; a failure is told as NaN, which counts as no figure, and printed if it is a new one."""
        try:
            with limited(self._limit):
                return self._figures(evaluate(*arguments))
        except Exception as why:
            import traceback
            text = str(why) if isinstance(why, Error) else "\n" + traceback.format_exc()
            if text != self._last_failure:
                self._session.say(text="evaluate failed; its figure is left out: " + text)
            self._last_failure = text
            return Told(test_loss=float("nan"))

    def tried(self, evaluate, *arguments) -> Told:
        """Calls evaluate before anything trains. Raises Error for a value that gives no figures."""
        try:
            return self._figures(evaluate(*arguments))
        except Error:
            raise
        except Exception as why:
            raise Error(f"evaluate is tried once before the start, and failed: {why}") from why

    def _figures(self, result) -> Told:
        """Returns the figures in what evaluate returned. Raises Error if there are none."""
        others = {}
        if isinstance(result, dict):
            others = {name: number(name, value) for name, value in result.items()}
            if not others.keys() & {"loss", "accuracy"}:
                raise Error(f"evaluate returned {', '.join(map(repr, others)) or 'nothing'}, and neither 'loss' nor "
                            "'accuracy'\nhelp: give one of these names to what the table and stop.target look at")
            loss, accuracy = others.pop("loss", float("nan")), others.pop("accuracy", None)
        elif isinstance(result, (tuple, list)) and len(result) == 2:
            loss, accuracy = number("the loss", result[0]), number("the accuracy", result[1])
        elif isinstance(result, (str, tuple, list)) or result is None:
            raise Error(f"evaluate returned {str(result)[:100]!r}, and not a loss, (loss, accuracy) or a dictionary of "
                        "numbers")
        else:
            loss, accuracy = number("the loss", result), None
        if accuracy is not None and not 0 <= accuracy <= 1:
            raise Error(f"evaluate returned an accuracy of {accuracy:g}: it is 0 to 1"
                        + ("\nhelp: divide percent by 100" if 1 < accuracy <= 100 else ""))
        if finite(others):
            self._session.say(figures=finite(others))
        return Told(test_loss=loss, accuracy=accuracy)


def number(name: str, value) -> float:
    """Returns a number of any library as Python's. Raises Error with its name if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        raise Error(f"{name} of evaluate is a {type(value).__name__}, and no number") from None


def finite(numbers: dict) -> dict:
    """Returns those that JSON can say: no NaN, no infinity."""
    return {name: value for name, value in numbers.items() if abs(value) < float("inf")}
