"""The peer of this process: how it begins, what a fork does to it and how it ends."""

import atexit
import json
import os
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from grapevine import _library as lib
from grapevine import _meeting
from grapevine._errors import Error
from grapevine._progress import Progress
from grapevine._session import Session, Tensor

AllGather = Callable[[str], Sequence[str]]
INTERRUPTED_S = 0.4    # how long the goodbye of an interrupted script may take: a person waits


class NewFolders:
    """Notes the folders that a script's first process makes, which is no peer: peer 0 makes them, too.

    remove() takes away those that are still empty.

    `os.makedirs` and `pathlib` make theirs by `os.mkdir`, too.
    """

    def __init__(self) -> None:
        self._made: List[str] = []
        self._mkdir: Callable = os.mkdir
        os.mkdir = self._noting      # type: ignore[assignment]

    def _noting(self, path: Any, *args: Any, **kwargs: Any) -> None:
        self._mkdir(path, *args, **kwargs)
        if "dir_fd" not in kwargs:
            self._made.append(os.path.abspath(os.fsdecode(path)))

    def remove(self) -> None:
        """Removes the empty ones, the last first, and notes no more."""
        if os.mkdir == self._noting:
            os.mkdir = self._mkdir
        while self._made:
            try:
                os.rmdir(self._made.pop())
            except OSError:
                pass        # it has files by now


class Process:
    """A peer from `init` to the end of its script."""

    def __init__(self, session: Session, meet: Optional[AllGather], listen: Optional[str] = None) -> None:
        self.session = session
        self.info: Dict[str, Any] = session.info()
        self.meet = meet
        self.listen = listen
        self.progress = Progress(self.info)
        self.attached = False
        self.seeds = False          # whether the random numbers are the fleet's
        self.failed = False         # by an exception that nobody caught: the end is a death
        self.interrupted = False
        self.forked = False
        self.layer: Any = None      # what grapevine.torch has made of it
        self.tensors: _meeting.Shapes = []      # names and shapes of what travels
        self.keeps: Any = None      # what owns the tensors: the library writes into them until the goodbye is said
        self._folders = NewFolders() if self.info["task"] in ("ask", "measure") else None
        self._gathers: Optional[AllGather] = None
        self._waiting: List[Callable[[], None]] = []    # calls of all peers that come when they have links

    @property
    def tries(self) -> bool:
        """Says whether this process tries what a script gave before it trains: the first one, or each without one."""
        if self.info["task"] == "ask":
            return True
        return self.info["task"] in ("peer", "alone") and not self.info["control"] and virtual.open is None

    @property
    def patience(self) -> Optional[float]:
        """Returns how many seconds an evaluation may take; None if the launcher or the simulation limits it."""
        alone = self.info["task"] != "peer" or virtual.open is not None
        return None if alone else self.info.get("stuck_after") or None

    def gather(self, text: str) -> Sequence[str]:
        """Gathers a text of each peer before they have links. Raises Error if there is no way yet."""
        if self._gathers is None and virtual.open is None:
            self._gathers = _meeting.before_links(self.info, self.meet)
        if self._gathers is None:
            raise Error("what all peers do together comes after DistributedOptimizer, or grapevine.Peer, if the peers "
                        "are on several machines: until then they have no links")
        return self._gathers(text)

    def attach(self, tensors: Sequence[Tensor], options: Dict[str, Any]) -> None:
        """Says where the parameters lie. Raises Disagreement if they are not those of the fleet, and names one."""
        self._leave_no_folder()
        self.tensors = [(tensor.name, list(tensor.shape)) for tensor in tensors]
        if self.info["control"] and self.info["task"] == "peer" and virtual.open is None:
            _meeting.check_start(json.loads(os.environ.get("GRAPEVINE_PEER", "{}")).get("start"), self.tensors)
        self.session.attach(tensors, options)

    def _leave_no_folder(self) -> None:
        if self._folders is not None:
            self._folders.remove()

    def later(self, call: Callable[[], None]) -> None:
        """Makes a call when the peers have links, before any of them trains."""
        self._waiting.append(call)

    def take_waiting(self) -> List[Callable[[], None]]:
        """Returns the calls that waited, once."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def begin(self) -> None:
        """Meets the others where somebody said how, and begins to train."""
        self.attached = True
        self.info = self.session.info()
        addresses = None
        if self.meet is not None:
            addresses = _meeting.addresses(self.meet, self.info, self.listen, self.tensors)
        self.session.begin(addresses)

    def end(self) -> None:
        """Settles the open exchange, says goodbye and frees the peer; dies at once where the script failed."""
        self._leave_no_folder()
        if self.attached and not self.failed:
            self._finish()
        self.session.close()

    def _finish(self) -> None:
        limit = time.monotonic() + INTERRUPTED_S if self.interrupted else float("inf")
        try:
            if not self.interrupted:
                self._warn_without_step()
                self._warn_within_round()
                self.progress.behind()
            self.keeps.leave(limit)
            while not self.session.finish() and time.monotonic() < limit:
                pass
        except (Error, KeyboardInterrupt):
            return

    def _warn_without_step(self) -> None:
        """Logs that the script ends without a step, so that nothing was averaged."""
        if self.info["task"] not in ("peer", "alone") or self.progress.steps() != 0 or self.progress.over():
            return
        if not self.session.info()["rejoined"]:
            self.session.say(text="ends without a step of the optimizer that DistributedOptimizer was given: nothing "
                                  "is averaged\nhelp: a script that changes its parameters by hand calls "
                                  "torch.optim.SGD(...).step() instead")

    def _warn_within_round(self) -> None:
        """Logs that the script ends within a round of several steps, which the others may have finished."""
        local = self.info.get("local_steps") or 1
        done = (self.progress.steps() or 0) % local
        if done and self.info["task"] == "peer" and not self.progress.over():
            self.session.say(text=f"ends after {done} of the {local} steps of its last round\n"
                                  "help: the same number of steps for all scripts, a multiple of train.local_steps")


_current: Optional[Process] = None
_installed = _has_left = False


class Virtual(threading.local):
    """Of a thread of a simulation: how its peer is opened, that peer, and whether the function has ended it itself."""

    open: Optional[Callable[[], Session]] = None
    current: Optional[Process] = None
    has_left = False


virtual = Virtual()


def current() -> Process:
    """Returns the peer of this process, or of this thread of a simulation. Raises Error before init, and in a child
    that was forked.
    """
    process = virtual.current if virtual.open is not None else _current
    if process is None:
        raise Error("grapevine.init() comes before all other calls")
    if process.forked:
        raise Error("this is a child of a peer, made by fork: only the parent is one")
    return process


def initialized() -> bool:
    """Returns whether this process, or this thread of a simulation, is a peer."""
    return (virtual.current if virtual.open is not None else _current) is not None


def init(fleet: Union[str, os.PathLike, None] = None, id: Optional[int] = None, *,
         meet: Union[AllGather, str, os.PathLike, None] = None, keys: Union[str, os.PathLike, None] = None,
         sets: Sequence[str] = (), folder: Union[str, os.PathLike, None] = None, listen: Optional[str] = None,
         rejoin: bool = False) -> None:
    """Makes this process a peer.

    Without arguments, `grapevine run` and `grapevine peer` name the fleet through the environment. A script that is
    started by itself is a fleet of one. Under these two commands, arguments without an id are ignored, so that the same
    script also runs under torchrun.

    fleet: path of the fleet file.
    id: 0 .. peers - 1. By default it comes from torchrun, srun, mpirun or an indexed Kubernetes job.
    meet: how the peers learn each other's ports: a function all_gather(text) that returns the texts of all peers in the
    order of their ids, or a folder that all can write. Without `meet`, the hosts of the fleet file are the addresses.
    keys: folder with this peer's key.
    sets: values that override the file's, such as ["train.batch=32"].
    folder: folder for checkpoints and the record. If each peer has its own, such as RUN/peers/003,
    `grapevine collect RUN` puts the run together.
    listen: "127.0.0.1:0" or "[fd00::7]:0"; port 0 is any free port. Peers that meet dial this address, or else the one
    by which MASTER_ADDR sees this machine.
    rejoin: whether to resume from the newest checkpoint in the folder, or else from a neighbour's model.

    A simulated function ignores the arguments, because the simulation chooses the fleet and the peer.
    Raises Error for a second peer in one process and for any mistake in the file.
    """
    global _current
    if initialized():
        raise Error("init() was called twice: one process is one peer")
    if _has_left:
        raise Error("init() after shutdown(): this peer has left its fleet, and `grapevine run` starts each peer once\n"
                    "help: leave out both; for another phase, call DistributedOptimizer again")
    if virtual.open is not None:
        virtual.current = Process(virtual.open(), None)
        return
    if fleet is not None and id is None and "GRAPEVINE_PEER" in os.environ:
        fleet = meet = keys = folder = listen = None
        sets, rejoin = (), False
    launched = _meeting.by_torchrun(fleet, id)
    if launched is not None:
        id, meet = launched.id, meet or launched.all_gather
        listen = listen or launched.listen
    options = {"fleet": text(fleet), "id": id, "keys": text(keys), "sets": list(sets) or None, "folder": text(folder),
               "listen": listen, "rejoin": rejoin or None}
    session = Session(options)
    if isinstance(meet, (str, os.PathLike)):
        info = session.info()
        meet = _meeting.in_folder(meet, info["id"], info["peers"])
    _current = Process(session, meet, listen)
    if launched is not None:
        _meeting.check_size(launched.size, _current.info["peers"])
    _install()


def text(path: Union[str, os.PathLike, None]) -> Optional[str]:
    return None if path is None else os.fspath(path)


def shutdown() -> None:
    """Ends the open exchange and leaves the fleet normally. Afterwards `init` may be called again.

    The end of the script does the same. An uncaught exception counts as a death, which the neighbours see at once.
    """
    global _current, _has_left
    if virtual.open is not None:
        process, virtual.current = virtual.current, None
        virtual.has_left = process is not None and process.attached
    else:
        process, _current = _current, None
        _has_left = process is not None and bool(process.info["control"])
    if process is not None and not process.forked:
        process.end()


def _install() -> None:
    """Installs, once, what sees forks, exceptions and the end of the interpreter."""
    global _installed
    if _installed:
        return
    _installed = True
    os.register_at_fork(before=lambda: _fork(lib.FORK_BEFORE), after_in_parent=lambda: _fork(lib.FORK_PARENT),
                        after_in_child=lambda: _fork(lib.FORK_CHILD))
    sys.excepthook = _noting(sys.excepthook)
    atexit.register(shutdown)


def _fork(phase: int) -> None:
    if _current is None or _current.forked:
        return
    _current.session.fork(phase)
    _current.forked = phase == lib.FORK_CHILD


def _noting(hook):
    """Returns an excepthook that first notes how the script ends, for `Process.end`."""
    def noted(kind, value, trace):
        if _current is not None:
            _current.interrupted = issubclass(kind, KeyboardInterrupt)
            _current.failed = not _current.interrupted
        hook(kind, value, trace)
    return noted
