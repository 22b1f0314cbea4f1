"""What goes wrong between a script and its fleet."""


class Error(Exception):
    """The script, the fleet file or the machine is at fault; the text says what and, after "help:", what to do."""


class PeerLost(Error):
    """Neighbours did not come, or too few peers live for the fleet to go on."""


class Disagreement(Error):
    """This peer's tensors, first values or fleet are not those of another peer."""


class Stopped(SystemExit):
    """The fleet has stopped. As a SystemExit with code 0 it ends a script that does not ask for it."""

    def __init__(self) -> None:
        super().__init__(0)
