"""The exceptions that a script of a fleet may see."""


class Error(Exception):
    """The script, the fleet file or the machine is at fault. The text names the fault and, after "help:", a remedy."""


class PeerLost(Error):
    """Neighbours did not come, or too few peers are alive for the fleet to continue."""


class Disagreement(Error):
    """Two peers differ in their tensors, first values, fleet or collective call."""


class Stopped(SystemExit):
    """The fleet has stopped. It is a SystemExit with code 0, so it ends a script that does not catch it."""

    def __init__(self) -> None:
        super().__init__(0)
