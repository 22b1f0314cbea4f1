"""Many virtual peers in one process: the same function as under `grapevine run`, in virtual time."""

import os
import random
import sys
import threading
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from grapevine import _library as lib
from grapevine import _process
from grapevine._errors import Error, Stopped
from grapevine._launch import Fleet
from grapevine._session import WAIT_MS, Session, Told, encoded, written

ASK, MEASURE = {"task": "ask"}, {"task": "measure"}


def simulate(fleet: Fleet, function: Callable[[], Any], *, sets: Sequence[str] = (),
             step: Optional[float] = None) -> Dict[str, Any]:
    """Runs a function as each peer of a fleet, with all peers in this process and in virtual time.

    The function is the same as for `launch`: it does init(), DistributedOptimizer and a loop. Each virtual peer calls
    it in its own thread, and one thread runs at a time. Each peer has its own random numbers (torch, random, NumPy).
    Therefore results repeat bit for bit, and synchronous methods end with the same bits as real peers.

    fleet: path of a fleet file, or its keys as a dictionary.
    sets: values that override the file's, such as ["peers=64"].
    step: seconds that a gradient with its step takes on the virtual clock, for a peer of speed 1. Without `step`, the
    function is first called once more and timed; asynchronous methods then do not repeat.

    Returns the summary of `grapevine simulate --json`, with "step" (seconds), "records" (the lines of metrics.jsonl)
    and "returned" (the function's result in each peer). Raises an exception of the function with that peer's number. An
    interrupt ends the simulation after the current round.
    """
    simulation = Simulation(fleet, sets, step)
    try:
        return simulation.run(function)
    finally:
        simulation.close()


class Simulation:
    """A simulation of the library, and the threads that sit in it."""

    def __init__(self, fleet: Fleet, sets: Sequence[str], step: Optional[float]) -> None:
        self._lib = lib.load()
        self._handle = c_void_p()
        self._random = Randomness.now()
        lib.checked(self._lib.gv_simulate(encoded({**fleet_words(fleet, sets), "step": step}),
                                          byref(self._handle)), None)
        self._seats: List[Seat] = []
        self.failures: List[BaseException] = []

    def run(self, function: Callable[[], Any]) -> Dict[str, Any]:
        """Times the function where that is needed, seats it once for each peer and waits for the end."""
        info = self.info()
        if info["step"] is None:
            self._seat(function, MEASURE).join()
        self._seat(function, ASK)
        for i in range(info["peers"]):
            self._seat(function, {"id": i})
        self._wait()
        for seat in self._seats:
            seat.join()
        self._raise()
        info = self.info()
        returned = [seat.returned for seat in self._seats if "id" in seat.words]
        return {**(info["summary"] or {}), "step": info["step"], "records": info["records"], "returned": returned}

    def info(self) -> Dict[str, Any]:
        return written(self._lib.gv_simulation_info, self._handle)

    def open(self, words: Dict[str, Any], peer: Any) -> int:
        """Opens a program of it in this thread."""
        return self._lib.gv_simulated(self._handle, encoded(words), peer)

    def close(self) -> None:
        """Ends what has not ended, and frees it; random numbers go on here as if nothing had been."""
        handle, self._handle = self._handle, c_void_p()
        self._lib.gv_simulation_close(handle)
        for seat in self._seats:
            seat.join()
        self._random.restore()

    def _seat(self, function: Callable[[], Any], words: Dict[str, Any]) -> "Seat":
        """Starts a thread, and returns when it waits for its first turn: until then it is the only one at work."""
        seat = Seat(self, function, words, self._random, self._seats[-1] if self._seats else None)
        self._seats.append(seat)
        seat.start()
        while not seat.waits.wait(WAIT_MS / 1000):
            pass
        self._raise()
        return seat

    def _wait(self) -> None:
        stop = 0
        while True:
            try:
                if lib.checked(self._lib.gv_simulation_wait(self._handle, stop, WAIT_MS), None) == lib.OK:
                    return
            except KeyboardInterrupt:
                stop = 1

    def _raise(self) -> None:
        """Raises the first failure of a peer, if there is one: those behind it are its doing."""
        if self.failures:
            raise self.failures[0]


class Seat(threading.Thread):
    """The thread of one virtual peer."""

    def __init__(self, simulation: Simulation, function: Callable[[], Any], words: Dict[str, Any],
                 randomness: "Randomness", before: Optional["Seat"]) -> None:
        name = f"peer {words['id']}" if "id" in words else words["task"]
        super().__init__(name=name, daemon=True)
        self.words = words
        self.waits = threading.Event()      # it has given way to the others for the first time, or it has ended
        self.returned: Any = None
        self._failed = False
        self.randomness = randomness
        self._simulation, self._function, self._before = simulation, function, before

    def open(self, peer: Any) -> int:
        return self._simulation.open(self.words, peer)

    def run(self) -> None:
        """Calls the function as a script would be; its end is the peer's goodbye, its failure the end of all."""
        _process.virtual.open = lambda: VirtualSession(self)
        self.randomness.restore()
        try:
            self.returned = self._function()
        except Stopped:
            pass
        except BaseException as why:
            self._fail(why)
        try:
            self._leave()
        except BaseException as why:
            self._fail(why)
        self.waits.set()

    def _leave(self) -> None:
        process = _process.virtual.current
        if not (_process.virtual.has_left if process is None else process.attached):
            self._fail(Error(f"{self.name}: the function ended before DistributedOptimizer"))
        if process is not None:
            process.failed = self._failed
        _process.shutdown()

    def _fail(self, why: BaseException) -> None:
        if hasattr(why, "add_note"):     # since Python 3.11
            why.add_note(f"in {self.name} of the simulation")
        self._failed = True
        self._simulation.failures.append(why)

    def give_way(self) -> None:
        """Goes before each wait for a turn: this peer's random numbers are kept, and others may use the generators."""
        self.randomness = Randomness.now()
        self.waits.set()

    def is_over(self) -> bool:
        """Says whether the simulation has ended."""
        return self._simulation.info()["over"]

    def go_on(self, turn: int) -> None:
        """Goes behind it. At the end of all peers, each goes on when the one before it is through."""
        if turn == lib.OVER and self._before is not None:
            self._before.join()
        self.randomness.restore()


class VirtualSession(Session):
    """A session whose peer sits in a simulation."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        super().__init__(seat.words)

    def _open(self, options: bytes, peer: Any) -> int:
        return self._seat.open(peer)

    def turn(self, told: Optional[Told], timeout_ms: int = -1) -> int:
        """As a session's; waits without end, since the thread that is interrupted is another one."""
        self._seat.give_way()
        turn = super().turn(told, -1)
        self._seat.go_on(turn)
        return turn

    def verb(self, call: lib.CCall, where: int, length: int, timeout_ms: int = -1) -> int:
        return self._apart(lambda: super(VirtualSession, self).verb(call, where, length, -1))

    def push(self, call: lib.CCall, where: int, length: int) -> int:
        return self._apart(lambda: super(VirtualSession, self).push(call, where, length))

    def pull(self, call: lib.CCall, length: int) -> int:
        return self._apart(lambda: super(VirtualSession, self).pull(call, length))

    def wait(self, handle: int, where: int, length: int, timeout_ms: int = -1) -> int:
        return self._apart(lambda: super(VirtualSession, self).wait(handle, where, length, -1))

    def _apart(self, call: Callable[[], int]) -> int:
        """Makes a call in which others may be at work."""
        self._seat.give_way()
        try:
            return call()
        finally:
            self._seat.go_on(lib.OVER if self._seat.is_over() else lib.NONE)

    def finish(self, timeout_ms: int = -1) -> bool:
        self._seat.give_way()
        try:
            return super().finish(-1)
        finally:
            self._seat.go_on(lib.OVER)


class Randomness:
    """Where the generators of random, NumPy and torch stand, as far as those are imported."""

    def __init__(self, python: Any, numpy: Any, torch: Any) -> None:
        self._python, self._numpy, self._torch = python, numpy, torch

    @staticmethod
    def now() -> "Randomness":
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        return Randomness(random.getstate(), numpy.random.get_state() if numpy else None,
                          torch.get_rng_state() if torch else None)

    def restore(self) -> None:
        random.setstate(self._python)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)
        if self._torch is not None:
            sys.modules["torch"].set_rng_state(self._torch)


def fleet_words(fleet: Fleet, sets: Sequence[str]) -> Dict[str, Any]:
    """Returns what gv_simulate is told of the fleet: in a simulation the function is its program."""
    import json
    if not isinstance(fleet, Mapping):
        return {"fleet": str(Path(os.fspath(fleet))), "sets": [*sets, 'program=["function"]']}
    if sets:
        raise Error("sets go over the values of a file, and the fleet is a dictionary: change it there")
    return {"text": json.dumps({"version": 1, **fleet, "program": ["function"]})}
