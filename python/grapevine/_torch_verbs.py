"""What all peers do together with tensors of PyTorch."""

from typing import Any, Callable, Dict, Optional

import torch

from grapevine import _library as lib
from grapevine import _process, _transfers, _verbs
from grapevine._errors import Error
from grapevine._hooks import plain
from grapevine._state import filled, packed, unpacked

Average = "average"
Sum = "sum"


class Compression:
    """Horovod's names. Here the fleet file chooses the compression: `algorithm: { codec: ... }`."""

    none = "none"
    fp16 = "fp16"


def allreduce(tensor: torch.Tensor, op: Any = Average, name: Optional[str] = None, *, average: Optional[bool] = None,
              compression: str = Compression.none) -> torch.Tensor:
    """Returns the mean, or with op="sum" the sum, of all peers' tensors: the same bits at each, in the tensor's type.

    tensor: of the same shape and type at all peers, on any device. Whole numbers have only a sum.
    name: label of the call; all peers must use the same.
    average: Horovod's earlier argument, True or False.
    compression: ignored; the values are sent uncompressed.

    The gradient of the result is the mean, or the sum, of all peers' gradients too, as in Horovod. Every peer makes the
    same calls in the same order, at any round; a call returns when all peers have made it.

    Raises Error on several machines before DistributedOptimizer, PeerLost if a peer has died or left, Disagreement if a
    peer made another call, Stopped if the fleet has stopped.
    """
    if tensor.requires_grad and torch.is_grad_enabled():
        return _Allreduced.apply(tensor, op, name, average)
    return allreduce_(tensor.detach().clone(), op, name, average=average, compression=compression)


class _Allreduced(torch.autograd.Function):
    """allreduce of a tensor that has a gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, *call: Any) -> torch.Tensor:
        ctx.call = call
        op, name, average = call
        return allreduce_(tensor.detach().clone(), op, name, average=average)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        op, name, average = ctx.call
        named = None if name is None else name + ", gradient"
        return allreduce_(gradients[0].detach().clone(), op, named, average=average), None, None, None


def allreduce_(tensor: torch.Tensor, op: Any = Average, name: Optional[str] = None, *, average: Optional[bool] = None,
               compression: str = Compression.none) -> torch.Tensor:
    """Does what allreduce does, in place."""
    if isinstance(op, bool) or op is None:
        op, average = Average, op if average is None else average      # Horovod's second argument
    if average is not None:
        op = Average if average else Sum
    _verb(_verbs.verb_of(op), tensor, _added_up(tensor.dtype), 0, name)
    return tensor


def broadcast(tensor: torch.Tensor, root: int = 0, name: Optional[str] = None, *,
              root_rank: Optional[int] = None) -> torch.Tensor:
    """Returns the tensor of peer `root`, of any type. Raises as allreduce does. root_rank: Horovod's name of `root`."""
    return broadcast_(tensor.detach().clone(), root, name, root_rank=root_rank)


def broadcast_(tensor: torch.Tensor, root: int = 0, name: Optional[str] = None, *,
               root_rank: Optional[int] = None) -> torch.Tensor:
    """Does what broadcast does, in place."""
    _verb(lib.BROADCAST, tensor, tensor.dtype, root if root_rank is None else root_rank, name)
    return tensor


def broadcast_parameters(parameters: Any, root_rank: int = 0) -> None:
    """Replaces tensors by those of peer `root_rank`, at all peers.

    parameters: a state_dict(), named_parameters(), or similar pairs.

    Before DistributedOptimizer, the root's values of now are kept, and sent when the peers have links, before any peer
    trains. In a peer that resumes, the call does nothing, because its checkpoint holds the values. Raises Error if the
    peers have different tensors, and otherwise the same exceptions as broadcast.
    """
    named = dict(parameters)
    tensors = {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}
    _from_root(tensors, lambda values: _take_values(tensors, values), root_rank, "broadcast_parameters")


def broadcast_optimizer_state(optimizer: Any, root_rank: int = 0) -> None:
    """Replaces an optimizer's state, with rates and momenta, by that of peer `root_rank`, when broadcast_parameters
    would send."""
    optimizer = plain(optimizer)
    own = optimizer.state_dict()
    _from_root(own, lambda state: optimizer.load_state_dict(filled(state, own)), root_rank, "broadcast_optimizer_state")


def _from_root(value: Any, take: Callable[[Any], None], root: int, name: str) -> None:
    """Hands what the root has to `take` at the other peers; now, or before the training begins."""
    process = _process.current()
    if process.session.info()["rejoined"]:
        process.session.say(text=f"{name} does nothing in a peer that resumes: its checkpoint holds the values")
        return
    mine = process.info["id"] == root
    block = packed({"value": value}) if mine else b""

    def travel() -> None:
        length = torch.tensor([len(block)])
        broadcast_(length, root, name)
        data = torch.frombuffer(bytearray(block), dtype=torch.uint8) if mine else torch.empty(
            int(length), dtype=torch.uint8)
        broadcast_(data, root, name)
        if not mine:
            take(unpacked(bytes(data.numpy() if data.numel() else b""))["value"])
    if process.attached:
        travel()
    elif process.info["task"] == "peer":
        _verbs.check_root(root, process.info["peers"])
        process.later(travel)


@torch.no_grad()
def _take_values(tensors: Dict[str, torch.Tensor], values: Dict[str, torch.Tensor]) -> None:
    if list(tensors) != list(values):
        other = sorted(set(tensors) ^ set(values)) or ["their order"]
        raise Error(f"broadcast_parameters: the root has other tensors than this peer: {', '.join(other[:3])}")
    servers = _process.current().info["step_is_servers"]
    for name, tensor in tensors.items():
        if tensor.shape != values[name].shape:
            raise Error(f"broadcast_parameters: {name} is {list(values[name].shape)} at the root, and "
                        f"{list(tensor.shape)} here")
        if servers and tensor.requires_grad and not torch.equal(tensor.cpu(), values[name]):
            raise Error(f"broadcast_parameters: the servers hold the model, and {name} is another one at the root\n"
                        "help: name the values by model.start in the fleet file")
        tensor.copy_(values[name])


def neighbor_average(tensor: torch.Tensor, name: Optional[str] = None) -> torch.Tensor:
    """Returns the sum of the neighbours' tensors and this one, each times its weight (`weights()`).

    Waits only for the neighbours. Raises Error if the graph changes with the rounds or has no weights, and otherwise
    the same exceptions as allreduce.
    """
    result = tensor.detach().clone()
    _verb(lib.NEIGHBOR_AVERAGE, result, _added_up(result.dtype), 0, name)
    return result


def push(tensor: torch.Tensor, to: int, name: Optional[str] = None) -> _transfers.Handle:
    """Pushes a tensor to neighbour `to`, which pulls it. Returns at once; the tensor may change right after.

    The nth push to a peer belongs to its nth pull from this peer. name: label of the transfer; the pull must have the
    same. Data are sent only when they are pulled, so `wait` for the handle before the script ends. Raises Error if the
    two peers have no link.
    """
    copy = tensor.detach().to("cpu").contiguous()
    return _transfers.begun_push(copy.data_ptr(), copy.numel() * copy.element_size(), _kind(copy.dtype), to, name)


def pull(tensor: torch.Tensor, source: int, name: Optional[str] = None) -> _transfers.Handle:
    """Pulls from neighbour `source` what it pushes, into a tensor of the same type and size. Returns at once.

    The tensor holds the data when `wait` returns it. Raises the same exceptions as push.
    """
    copy = torch.empty(tensor.shape, dtype=tensor.dtype)

    @torch.no_grad()
    def done() -> torch.Tensor:
        return tensor.copy_(copy)
    length = copy.numel() * copy.element_size()
    return _transfers.begun_pull(copy.data_ptr(), length, _kind(copy.dtype), source, name, done)


def _kind(dtype: torch.dtype) -> int:
    """Returns the library's type; both ends of a transfer must have the same."""
    return {torch.float32: lib.FLOAT32, torch.float64: lib.FLOAT64, torch.int64: lib.INT64}.get(dtype, lib.BYTES)


def _added_up(dtype: torch.dtype) -> torch.dtype:
    """Returns the type in which tensors of a type are added up."""
    if dtype in (torch.float32, torch.float64):
        return dtype
    if dtype in (torch.float16, torch.bfloat16):
        return torch.float32
    if dtype.is_complex or dtype.is_floating_point:
        raise Error(f"tensors of {str(dtype).replace('torch.', '')} do not add up here\n"
                    "help: torch.view_as_real(), float()")
    return torch.int64


@torch.no_grad()
def _verb(verb: int, tensor: torch.Tensor, dtype: torch.dtype, root: int, name: Optional[str]) -> None:
    """Makes a call about a dense copy on the CPU, and writes the outcome into the tensor."""
    copy = tensor.detach().to("cpu", dtype, copy=True).contiguous()
    kind = lib.BYTES if verb == lib.BROADCAST else _kind(dtype)
    length = copy.numel() * copy.element_size()
    _verbs.together(verb, kind, copy.data_ptr(), length, root, name)
    tensor.copy_(copy)
