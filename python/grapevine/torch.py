"""Any PyTorch script as a peer of a fleet.

    import grapevine.torch as gv
    gv.init()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    gv.DistributedOptimizer(opt, model)

The script keeps its model, its data, its optimizer and its loop. The fleet file names the script (`program:`), the
graph, the method and the hosts. The method decides when parameters or gradients are averaged; both are float32.
"""

import functools
import inspect
import os
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence

import torch

from grapevine import _horovod, _process
from grapevine._attached import Attached
from grapevine._errors import Disagreement, Error, PeerLost, Stopped
from grapevine._hooks import plain
from grapevine._horovod import *        # noqa: F401, F403
from grapevine._launch import launch
from grapevine._norms import recalibrate
from grapevine._process import initialized as is_initialized
from grapevine._simulate import simulate
from grapevine._state import seed_all
from grapevine._tensors import TrainedSet
from grapevine._torch_verbs import (Average, Compression, Max, Min, Product, Sum, allgather, allgather_object,
                                    allreduce, allreduce_, alltoall, broadcast, broadcast_, broadcast_object,
                                    broadcast_optimizer_state, broadcast_parameters, neighbor_average, pull, push,
                                    reducescatter)
from grapevine._transfers import wait
from grapevine._verbs import barrier
from grapevine.sampler import Sampler, shard

__all__ = ["Average", "Compression", "Disagreement", "DistributedOptimizer", "Error", "Max", "Min", "PeerLost",
           "Product", "Sampler", "Stopped", "Sum", "allgather", "allgather_object", "allreduce", "allreduce_",
           "alltoall", "barrier", "batch", "broadcast", "broadcast_", "broadcast_object", "broadcast_optimizer_state",
           "broadcast_parameters", "device", "epochs", "init", "is_initialized", "launch", "local_rank", "local_size",
           "log", "neighbor_average", "neighbors", "pull", "push", "rank", "recalibrate", "reducescatter", "rejoined",
           "round", "running", "shard", "shutdown", "simulate", "size", "stop", "wait", "weights", *_horovod.__all__]

WRAPPERS = {"DistributedDataParallel": "averages gradients", "FullyShardedDataParallel": "divides the model",
            "FSDPModule": "divides the model"}      # the last is what fully_shard makes of a module
GROUP = ("init_process_group joins processes of torch.distributed, and `grapevine run` joins peers by gv.init()\n"
         "help: remove it; gv.rank(), gv.size(), gv.barrier(), gv.allreduce() and gv.broadcast() need no process group")


def __getattr__(name: str) -> Any:
    """Returns what stands for a name of Horovod that has no place here."""
    if name in _horovod.ABSENT:
        return _horovod.Absent(name, _horovod.ABSENT[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def init(fleet: Any = None, id: Optional[int] = None, *, seed: bool = True, **options: Any) -> None:
    """Makes this process a peer. Takes the arguments of `grapevine.init`, and `seed`.

    seed: whether torch, random and NumPy (if imported) get the fleet's seed, so that all peers make the same model.
    After DistributedOptimizer, each peer has its own random numbers.
    """
    _process.init(fleet, id, **options)
    process = _process.current()
    process.seeds = seed
    if seed:
        seed_all(process.info["seed"])
    refuse_distributed()


def shutdown() -> None:
    """Leaves the fleet normally, as the end of the script does. The optimizer is then an ordinary one again."""
    layer = _process.current().layer if _process.initialized() else None
    _process.shutdown()
    if layer is not None:
        layer.detach()


def rank() -> int:
    """Returns this peer's id, 0 .. size() - 1."""
    return _process.current().info["id"]


def size() -> int:
    """Returns the number of peers that train."""
    return _process.current().info["peers"]


def local_rank() -> int:
    """Returns this peer's number among the peers that train on its host, from 0."""
    return _process.current().info["local_id"]


def local_size() -> int:
    """Returns the number of peers that train on this host."""
    return _process.current().info["local_peers"]


def neighbors() -> List[int]:
    """Returns the ids of the peers with which this peer averages."""
    return [other["peer"] for other in _now()["neighbors"]]


def weights() -> Dict[int, float]:
    """Returns this peer's row of the mixing matrix: its neighbours' weights and its own, by id. Their sum is 1."""
    info = _now()
    return {info["id"]: info["self_weight"], **{other["peer"]: other["weight"] for other in info["neighbors"]}}


def round() -> int:
    """Returns the number of finished rounds.

    A script whose loop is `range(gv.round(), n)` resumes there, if it calls this between DistributedOptimizer and its
    first step.
    """
    _process.current().progress.asks()
    return _now()["round"]


def rejoined() -> bool:
    """Returns whether this peer resumed from a checkpoint or a neighbour's model."""
    _process.current().progress.asks()
    return _now()["rejoined"]


def _now() -> Dict[str, Any]:
    return _process.current().session.info()


def device() -> torch.device:
    """Returns the device that the fleet file gives this peer. "cuda" is a GPU chosen by local_rank(); "auto" is the
    same if there is a GPU, else the CPU."""
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
    """Returns the size of a minibatch: train.batch of the fleet file, or `usual` for a script that runs alone."""
    info = _process.current().info
    return usual if info["task"] == "alone" else info["batch"]


def DistributedOptimizer(optimizer: Any, model: Any = None, *, named_parameters: Optional[Iterable] = None,
                         evaluate: Optional[Callable] = None, calibrate: Any = None,
                         state: Sequence[Any] = (), compression: str = Compression.none, op: str = Average,
                         backward_passes_per_step: int = 1, gradient_predivide_factor: float = 1.0,
                         num_groups: int = 0, groups: Any = None, sparse_as_dense: bool = False,
                         process_set: Any = None) -> Any:
    """Joins the fleet with a model and its optimizer. Returns the same optimizer; each of its steps is now a peer's.

    optimizer: one optimizer, or a list; the step of the last one ends the turn.
    model: a torch.nn.Module; or Horovod's second argument, the pairs of named_parameters. Without a model or pairs, the
    parameters are those of the optimizer.
    evaluate: evaluate(model), or without a model evaluate(), returns the test loss, (loss, accuracy) or a dictionary of
    numbers.
    calibrate: a loader, or a function that runs the model on some batches (for example a GAN's two networks). The batch
    norms of the mean model are computed from it before the model is evaluated or saved.
    state: objects with state_dict and load_state_dict to keep in a checkpoint: schedulers, scalers, averages.
    backward_passes_per_step: any number; a turn ends with a step, after any number of backward passes.
    sparse_as_dense: whether sparse gradients become dense ones, for methods that send gradients.
    num_groups, groups: ignored; all tensors are sent together.

    For another phase, call it again with other optimizers of the same tensors. The new `state` then counts; evaluate,
    calibrate and model stay those of the first call.

    Returns when the neighbours are there. Raises Error for tensors, optimizers and arguments that are not possible,
    Disagreement if another peer has other tensors, PeerLost if the neighbours do not come.
    """
    if model is not None and not isinstance(model, torch.nn.Module):
        model, named_parameters = None, model
    refuse_horovod(compression, op)
    if process_set is not None:
        raise Error(f"process_set: {_horovod.SETS}")
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
    refuse_modules(whole)
    trained = TrainedSet(model, named_parameters, optimizers)
    process.layer = Attached(process, optimizers, trained, whole, answers, calibrate, state, sparse_as_dense)
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


def refuse_modules(model: Optional[torch.nn.Module]) -> None:
    """Raises Error for a module that works with other processes by torch.distributed, and names it."""
    for name, module in model.named_modules() if model is not None else ():
        if isinstance(module, torch.nn.SyncBatchNorm):
            raise Error(f"{name or 'the model'} is a SyncBatchNorm, and {_horovod.ABSENT['SyncBatchNorm']}")
        for kind in type(module).__mro__:
            if kind.__name__ in WRAPPERS and kind.__module__.startswith("torch."):
                raise Error(about_wrapper(kind.__name__))


def about_wrapper(name: str) -> str:
    """Returns why a peer refuses a class of PyTorch that works with other processes."""
    return (f"{name.replace('FSDPModule', 'fully_shard')} {WRAPPERS[name]} by torch.distributed, and a peer averages "
            "by the fleet's method\nhelp: remove it and init_process_group, and give the model itself to "
            "gv.DistributedOptimizer; `algorithm: all-reduce` averages all gradients")


def refuse_distributed() -> None:
    """Makes the wrappers of torch.distributed that are loaded raise Error while this process is a peer."""
    kinds = [torch.nn.parallel.DistributedDataParallel]
    if "torch.distributed.fsdp" in sys.modules:
        kinds.append(sys.modules["torch.distributed.fsdp"].FullyShardedDataParallel)
    for kind in kinds:
        text = about_wrapper(kind.__name__)
        refuse_in_peer(kind, "__init__", lambda *words, text=text, **more: text if is_initialized() else None)


def refuse_in_peer(owner: Any, name: str, refusal: Callable[..., Optional[str]]) -> None:
    """Makes a function of PyTorch raise Error if `refusal`, which takes the same arguments, returns a text."""
    inner = getattr(owner, name)
    if hasattr(inner, "_grapevine"):
        return

    @functools.wraps(inner)
    def refusing(*words: Any, **more: Any) -> Any:
        text = refusal(*words, **more)
        if text is not None:
            raise Error(text)
        return inner(*words, **more)
    setattr(refusing, "_grapevine", True)
    setattr(owner, name, refusing)


def about_group(url: str, *words: Any, **more: Any) -> Optional[str]:
    """Returns why a peer refuses init_process_group; None if it is harmless, as under torchrun.

    Under `grapevine run` it would wait for ever, because the first process is no peer and has the rank 0, too.
    """
    ranked = not url.startswith("env:") or {"RANK", "WORLD_SIZE"} <= set(os.environ)
    return GROUP if "GRAPEVINE_PEER" in os.environ or is_initialized() and not ranked else None


if torch.distributed.is_available():        # init_process_group calls this, in whatever way a script has imported it
    refuse_in_peer(torch.distributed.distributed_c10d, "rendezvous", about_group)


def epochs(n: Optional[int] = None) -> Iterator[int]:
    """Yields 0 .. n - 1, or the rest after a checkpoint's epoch. Ends early if the fleet stops.

    n: number of epochs. None means stop.epochs of the fleet file; without it, only the fleet's stop ends the loop.
    """
    return _process.current().progress.epochs(n)


def running(loader: Iterable[Any]) -> Iterator[Any]:
    """Yields the batches of one pass over a loader, from a checkpoint's place on. Ends if the fleet stops."""
    return _process.current().progress.running(loader)


def log(loss: Any = None, **scalars: Any) -> None:
    """Logs the loss of a minibatch, and other numbers of this round.

    Tensors of one element are read when the next turn ends, so that this call does not wait for a device. The mean of
    the losses of one turn is the round's training loss. Scalars go to program.jsonl in the peer's folder.
    """
    layer = _process.current().layer
    if layer is None:
        raise Error("log() comes after DistributedOptimizer")
    layer.log(loss, scalars)


def stop() -> None:
    """Leaves the fleet after this round; `running` and `epochs` then end."""
    _process.current().session.say(stop=True)
