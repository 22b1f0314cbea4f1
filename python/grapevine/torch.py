"""Any PyTorch script as a peer of a fleet.

    import grapevine.torch as gv
    gv.init()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    gv.DistributedOptimizer(opt, model)

The script keeps its model, its data, its optimizer and its loop; what the fleet file names (`program:`) is the graph,
the method and who is where. Parameters are averaged in float32 between the steps, as the method says.
"""

import inspect
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence

import torch

from grapevine import _process
from grapevine._attached import Attached
from grapevine._errors import Disagreement, Error, PeerLost, Stopped
from grapevine._hooks import plain
from grapevine._launch import launch
from grapevine._norms import recalibrate
from grapevine._process import initialized as is_initialized
from grapevine._simulate import simulate
from grapevine._state import seed_all
from grapevine._tensors import TrainedSet
from grapevine._torch_verbs import (Average, Compression, Sum, allreduce, allreduce_, broadcast, broadcast_,
                                    broadcast_optimizer_state, broadcast_parameters, neighbor_average, pull, push)
from grapevine._transfers import wait
from grapevine._verbs import barrier
from grapevine.sampler import Sampler, shard

__all__ = ["Average", "Compression", "Disagreement", "DistributedOptimizer", "Error", "PeerLost", "Sampler", "Stopped",
           "Sum", "allreduce", "allreduce_", "barrier", "batch", "broadcast", "broadcast_", "broadcast_optimizer_state",
           "broadcast_parameters", "device", "epochs", "init", "is_initialized", "launch", "local_rank", "local_size",
           "log", "neighbor_average", "neighbors", "pull", "push", "rank", "recalibrate", "rejoined", "round",
           "running", "shard", "shutdown", "simulate", "size", "stop", "wait", "weights"]


def init(fleet: Any = None, id: Optional[int] = None, *, seed: bool = True, **options: Any) -> None:
    """Makes this process a peer, as `grapevine.init` does, whose arguments are these.

    seed: gives torch, random and NumPy (where it is imported) the fleet's seed, so that all peers make the same model;
    once the model is there, each goes on with a stream of its own.
    """
    _process.init(fleet, id, **options)
    process = _process.current()
    process.seeds = seed
    if seed:
        seed_all(process.info["seed"])


def shutdown() -> None:
    """Leaves the fleet in order; the end of the script does the same. The optimizer is then a plain one again."""
    layer = _process.current().layer if _process.initialized() else None
    _process.shutdown()
    if layer is not None:
        layer.detach()


def rank() -> int:
    """Returns this peer's id, 0 .. size() - 1."""
    return _process.current().info["id"]


def size() -> int:
    """Returns how many peers train."""
    return _process.current().info["peers"]


def local_rank() -> int:
    """Returns this peer's place among those that train on its host, from 0 on."""
    return _process.current().info["local_id"]


def local_size() -> int:
    """Returns how many peers train on this host."""
    return _process.current().info["local_peers"]


def neighbors() -> List[int]:
    """Returns the ids of those with whom this peer averages."""
    return [other["peer"] for other in _now()["neighbors"]]


def weights() -> Dict[int, float]:
    """Returns this peer's row of the mixing matrix: its neighbours' weights by id, and its own; they add up to 1."""
    info = _now()
    return {info["id"]: info["self_weight"], **{other["peer"]: other["weight"] for other in info["neighbors"]}}


def round() -> int:
    """Returns how many rounds are done. A resumed script whose loop begins there, `range(gv.round(), n)`, asks for it
    between DistributedOptimizer and its first step.
    """
    _process.current().progress.asks()
    return _now()["round"]


def rejoined() -> bool:
    """Says whether this peer went on from a checkpoint or a neighbour's model."""
    _process.current().progress.asks()
    return _now()["rejoined"]


def _now() -> Dict[str, Any]:
    return _process.current().session.info()


def device() -> torch.device:
    """Returns the device that the fleet file gives this peer; "cuda" is one of the GPUs by local_rank(),
    "auto" the same where there is one, else the CPU."""
    named = _process.current().info["device"]
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if named in ("auto", "cuda") and gpus:
        return torch.device("cuda", local_rank() % gpus)
    if named == "auto":
        return torch.device("cpu")
    chosen = torch.device(named)
    if chosen.type == "cuda" and (chosen.index or 0) >= gpus > 0:
        return torch.device("cuda", 0)      # the launcher shows a peer its own GPU alone
    return chosen


def batch(usual: int) -> int:
    """Returns the samples of a minibatch: the fleet file's train.batch; `usual` for a script by itself."""
    info = _process.current().info
    return usual if info["task"] == "alone" else info["batch"]


def DistributedOptimizer(optimizer: Any, model: Any = None, *, named_parameters: Optional[Iterable] = None,
                         evaluate: Optional[Callable] = None, calibrate: Any = None,
                         state: Sequence[Any] = (), compression: str = Compression.none, op: str = Average,
                         backward_passes_per_step: int = 1, gradient_predivide_factor: float = 1.0) -> Any:
    """Joins the fleet with a model and its optimizer, and returns the same optimizer, whose step now is a peer's.

    optimizer: one, or several, of which the last one's step ends the turn. model: a torch.nn.Module; or Horovod's
    second argument, the pairs of named_parameters. Without both the parameters are those of the optimizer.
    evaluate: evaluate(model) returns the test loss, (loss, accuracy) or a dictionary of numbers; without a model
    evaluate(). calibrate: a loader, or a function that runs the model on some batches (a GAN's two networks): batch
    norms of the mean model are computed from it before the model is evaluated or saved.
    state: what has state_dict and load_state_dict and belongs into a checkpoint: schedulers, scalers, averages.
    Called again with other optimizers of the same tensors, for another phase, it goes on with those; `state` is then
    theirs, and evaluate, calibrate and model are those of the first call.
    backward_passes_per_step: any number; a turn ends with a step, however many backward passes that took.

    Returns when the neighbours are there. Raises Error for tensors, optimizers and arguments that cannot be,
    Disagreement where another peer has other tensors, PeerLost where the neighbours do not come.
    """
    if model is not None and not isinstance(model, torch.nn.Module):
        model, named_parameters = None, model
    refuse_horovod(compression, op)
    if gradient_predivide_factor != 1.0:
        raise Error(f"gradient_predivide_factor={gradient_predivide_factor}: the mean is taken in one step here")
    process = _process.current()
    optimizers = list(map(plain, optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]))
    if process.attached:
        known = process.layer.optimizers if process.layer is not None else optimizers
        if any(own is other for own in known for other in optimizers):
            raise Error("DistributedOptimizer was called before\nhelp: several optimizers go into one call, as a list")
        process.layer.change(optimizers, state)
        return optimizer
    whole, answers = model, evaluate
    if model is None:
        whole = owner(named_parameters)
        answers = evaluate if evaluate is None or whole is None else lambda of: evaluate()
    trained = TrainedSet(model, named_parameters, optimizers)
    process.layer = Attached(process, optimizers, trained, whole, answers, calibrate, state)
    return optimizer


def owner(named_parameters: Any) -> Any:
    """Returns the module whose named_parameters() these are, if they have not been looked at; else None."""
    if not inspect.isgenerator(named_parameters):
        return None
    module = inspect.getgeneratorlocals(named_parameters).get("self")
    return module if isinstance(module, torch.nn.Module) else None


def refuse_horovod(compression: str, op: str) -> None:
    """Raises Error for what Horovod does by an argument and the fleet file does here, or nothing does."""
    if compression != Compression.none:
        raise Error("what travels is compressed by the fleet file\nhelp: algorithm: { codec: fp16 }")
    if op != Average:
        raise Error(f"op={op!r}: peers average\nhelp: op=Average; a sum of gradients is size() times their mean")


def epochs(n: Optional[int] = None) -> Iterator[int]:
    """Gives 0 .. n - 1, from the epoch of a checkpoint on; ends early where the fleet stops.

    n: None is stop.epochs of the fleet file, and without it there is no end but the fleet's.
    """
    return _process.current().progress.epochs(n)


def running(loader: Iterable[Any]) -> Iterator[Any]:
    """Gives the batches of one pass over a loader, from the place of a checkpoint on; ends where the fleet stops."""
    return _process.current().progress.running(loader)


def log(loss: Any = None, **scalars: Any) -> None:
    """Says the loss of a minibatch, and other numbers of this round.

    Tensors of one element are read when the next turn ends, so that nothing here waits for a device. The mean of what
    is logged in one turn is the round's training loss; scalars go to program.jsonl of the peer's folder.
    """
    layer = _process.current().layer
    if layer is None:
        raise Error("log() comes after DistributedOptimizer")
    layer.log(loss, scalars)


def stop() -> None:
    """Leaves after this round: `running` and `epochs` end in time."""
    _process.current().session.say(stop=True)
