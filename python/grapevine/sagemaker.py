"""A training job of SageMaker as a fleet: one peer in each container.

    grapevine.sagemaker.run(train, "fleet.yaml", keys=grapevine.sagemaker.channel("keys"))

The platform passes environment variables: SM_HOSTS and SM_CURRENT_HOST name the containers, SM_CHANNEL_* the folders of
data, SM_MODEL_DIR the folder for the model. The text of a failure goes to the file whose end the platform shows.
"""

import json
import os
import time
import traceback
from pathlib import Path
from typing import Any, Callable, List, Sequence, Union

from grapevine import _process
from grapevine._engines import called, refuse_servers
from grapevine._errors import Error, PeerLost

PORT = 27000
PATIENCE_S = 120.0     # for the slowest container to have a name
FAILURE = "/opt/ml/output/failure"
FAILURE_CHARACTERS = 1024     # of which the platform shows no more


def run(train: Callable[[], Any], fleet: Union[str, os.PathLike], *, keys: Union[str, os.PathLike, None] = None,
        port: int = PORT, sets: Sequence[str] = ()) -> Any:
    """Makes this container a peer of the fleet, calls train() and leaves the fleet. Returns the result of train().

    train: function that does what a script does after init().
    keys: folder with this peer's key, needed with several containers (`grapevine keygen`; a channel can bring it).
    port: port at which every container listens.

    A failure is written to /opt/ml/output/failure and raised, so that the process ends with code 1.
    """
    try:
        hosts = listed("SM_HOSTS")
        own = setting("SM_CURRENT_HOST")
        if own not in hosts:
            raise Error(f"SM_CURRENT_HOST is {own}, and SM_HOSTS has {', '.join(hosts)}")
        _process.init(fleet, hosts.index(own), meet=by_names(hosts, port), keys=keys, sets=sets,
                      listen=f"{resolved(own)}:{port}")
        info = _process.current().info
        refuse_servers(info)
        if info["peers"] != len(hosts):
            raise Error(f"the job has {len(hosts)} containers, and the fleet {info['peers']} peers\n"
                        f"help: sets=[\"peers={len(hosts)}\"]")
        return called(train)
    except Exception:
        tell_failure(traceback.format_exc())
        raise


def channel(name: str = "training") -> str:
    """Returns the folder of a channel's data."""
    return setting(f"SM_CHANNEL_{name.upper()}")


def model_folder() -> str:
    """Returns the folder that is kept as the job's model. Only one container writes it, such as that of gv.rank() 0."""
    return setting("SM_MODEL_DIR")


def setting(name: str) -> str:
    """Returns a variable of the contract. Raises Error where this is no training job."""
    value = os.environ.get(name)
    if not value:
        raise Error(f"{name} is not set: this is no training job of SageMaker")
    return value


def listed(name: str) -> List[str]:
    """Returns a variable that holds a list."""
    try:
        return [str(host) for host in json.loads(setting(name))]
    except ValueError:
        raise Error(f"{name} is no JSON list: {setting(name)}") from None


def by_names(hosts: Sequence[str], port: int) -> Callable[[str], List[str]]:
    """Returns an all_gather that says of each container where it must be: at its name and the port of all.

    So nothing is gathered. That all train the same tensors is seen when they meet.
    """
    def all_gather(text: str) -> List[str]:
        mine = json.loads(text)
        return [json.dumps({**mine, "peer": i, "host": resolved(host), "port": port}) for i, host in enumerate(hosts)]
    return all_gather


def resolved(host: str) -> str:
    """Returns the address of a name, which a container gets some time after another has begun."""
    import socket
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.gethostbyname(host)
        except OSError as why:
            if time.monotonic() > until:
                raise PeerLost(f"{host} has no address after {PATIENCE_S:.0f} s: {why}") from None
            time.sleep(1)


def tell_failure(text: str) -> None:
    """Writes why the job failed to where the platform looks; without such a place the exception says it alone."""
    try:
        Path(FAILURE).write_text(text[-FAILURE_CHARACTERS:])
    except OSError:
        pass
