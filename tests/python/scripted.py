"""A session that gives the turns of a list, and notes what the program did: the order of calls without a fleet."""

from typing import Any, Dict, List, Optional

from grapevine import _library as lib
from grapevine._progress import Progress
from grapevine._session import Told

INFO = {"task": "peer", "algorithm": "d-psgd", "gradients": "kept", "rate": False, "id": 0, "peers": 2, "batch": 32,
        "peer_seed": 7, "seed": 3, "partition": "iid", "epochs": None, "rejoined": False}


class ScriptedSession:
    """Turns come from `turns`, one a call, and OVER behind the last; `calls` says what the program said and when."""

    def __init__(self, turns: List[int], **info: Any) -> None:
        self._turns = list(turns)
        self._info = {**INFO, **info}
        self.calls: List[Any] = []

    def info(self) -> Dict[str, Any]:
        return self._info

    def turn(self, told: Optional[Told], timeout_ms: int = 0) -> int:
        self.calls.append(told)
        return self._turns.pop(0) if self._turns else lib.OVER

    def point(self, what: int, addresses: List[int]) -> None:
        self.calls.append(("point", what, addresses))

    def give_state(self, state: bytes) -> None:
        self.calls.append(("state", state))

    def attach(self, tensors: List[Any], options: Dict[str, Any]) -> int:
        self.attached = [tensor.name for tensor in tensors], options
        return 0

    def take_state(self) -> bytes:
        return b""

    def say(self, **words: Any) -> None:
        self.calls.append(("say", words))


class ScriptedProcess:
    """A process whose session is a scripted one."""

    def __init__(self, session: ScriptedSession) -> None:
        self.session, self.info = session, session.info()
        self.progress = Progress(self.info)
        self.attached = self.seeds = self.forked = False
        self.tries = bool(self.info.get("tries"))
        self.patience: Optional[float] = None

    def attach(self, tensors: List[Any], options: Dict[str, Any]) -> None:
        self.session.attach(tensors, options)

    def begin(self) -> None:
        self.attached = True

    def take_waiting(self) -> List[Any]:
        return []
