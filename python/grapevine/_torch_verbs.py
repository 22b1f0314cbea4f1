"""What all peers do together with tensors of PyTorch."""

import math
from typing import Any, Callable, Dict, List, Optional

import torch

from grapevine import _library as lib
from grapevine import _process, _transfers, _verbs
from grapevine._errors import Error
from grapevine._hooks import plain
from grapevine._state import filled, packed, unpacked

Average, Sum, Min, Max, Product = "average", "sum", "min", "max", "product"
CHOICES: Dict[Any, Callable[[torch.Tensor], torch.Tensor]] = {      # of the values of all peers, the first dimension
    Min: lambda values: values.amin(0), Max: lambda values: values.amax(0), Product: lambda values: values.prod(0)}


class Compression:
    """Horovod's names. Here the fleet file chooses the compression: `algorithm: { codec: ... }`."""

    none = "none"
    fp16 = "fp16"


def allreduce(tensor: torch.Tensor, op: Any = Average, name: Optional[str] = None, *, average: Optional[bool] = None,
              compression: str = Compression.none, prescale_factor: float = 1.0,
              postscale_factor: float = 1.0) -> torch.Tensor:
    """Returns the mean, or with op="sum" the sum, of all peers' tensors: the same bits at each, in the tensor's type.

    op: also "min", "max" and "product", which have no gradient.
    tensor: of the same shape and type at all peers, on any device. Whole numbers have no mean.
    name: label of the call; all peers must use the same.
    average: Horovod's earlier argument, True or False.
    compression: ignored; the values are sent uncompressed.
    prescale_factor, postscale_factor: factors of the tensor and of the result.

    The gradient of the result is the mean, or the sum, of all peers' gradients too, as in Horovod. Every peer makes the
    same calls in the same order, at any round; a call returns when all peers have made it.

    Raises Error on several machines before DistributedOptimizer, PeerLost if a peer has died or left, Disagreement if a
    peer made another call, Stopped if the fleet has stopped.
    """
    tensor = tensor if prescale_factor == 1.0 else tensor * prescale_factor
    if differentiates(tensor):
        if op in CHOICES:
            raise Error(f"op={op!r} has no gradient here\nhelp: allreduce(tensor.detach(), ...)")
        result = _Allreduced.apply(tensor, op, name, average)
    else:
        result = allreduce_(tensor.detach().clone(), op, name, average=average, compression=compression)
    return result if postscale_factor == 1.0 else result * postscale_factor


def differentiates(tensor: torch.Tensor) -> bool:
    return tensor.requires_grad and torch.is_grad_enabled()


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
               compression: str = Compression.none, prescale_factor: float = 1.0,
               postscale_factor: float = 1.0) -> torch.Tensor:
    """Does what allreduce does, in place."""
    if isinstance(op, bool) or op is None:
        op, average = Average, op if average is None else average      # Horovod's second argument
    if average is not None:
        op = Average if average else Sum
    with torch.no_grad():
        tensor.mul_(prescale_factor) if prescale_factor != 1.0 else None
        if op in CHOICES:
            tensor.copy_(CHOICES[op](allgather(tensor.detach()[None], name)))
        else:
            _verb(_verbs.verb_of(op), tensor, _added_up(tensor.dtype), 0, name)
        tensor.mul_(postscale_factor) if postscale_factor != 1.0 else None
    return tensor


def allgather(tensor: torch.Tensor, name: Optional[str] = None) -> torch.Tensor:
    """Returns the tensors of all peers, one behind the other in the first dimension, in which alone they may differ.

    Every peer sends as much as the result is long. The gradient is the sum of all peers' gradients of its part, as in
    Horovod. Raises as allreduce does.
    """
    return _Allgathered.apply(tensor, name) if differentiates(tensor) else _gathered(tensor.detach(), name)[0]


def _gathered(tensor: torch.Tensor, name: Optional[str]) -> Any:
    """Returns all rows, and where this peer's begin. Rows are added up as whole numbers, to zeros, so that every type
    keeps its bits. In the process that runs before there are peers, all have its rows.
    """
    info = _process.current().info
    rows = tensor.reshape(1) if tensor.dim() == 0 else tensor
    if info["task"] != "peer":
        return torch.cat([rows] * info["peers"]), 0
    counts = torch.zeros(info["peers"], dtype=torch.int64)
    counts[info["id"]] = len(rows)
    counts = allreduce_(counts, Sum, name).tolist()
    begin, size = sum(counts[:info["id"]]), math.prod(rows.shape[1:]) * rows.element_size()
    all_rows = torch.zeros(-(-sum(counts) * size // 8) * 8, dtype=torch.uint8)
    if rows.numel():
        own = rows.to("cpu", copy=True).contiguous().reshape(-1).view(torch.uint8)
        all_rows[begin * size:begin * size + len(own)] = own
    allreduce_(all_rows.view(torch.int64), Sum, name)
    flat = all_rows[:sum(counts) * size].clone().view(tensor.dtype)
    return flat.reshape(sum(counts), *rows.shape[1:]).to(tensor.device), begin


class _Allgathered(torch.autograd.Function):
    """allgather of a tensor that has a gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, name: Optional[str]) -> torch.Tensor:
        result, ctx.begin = _gathered(tensor.detach(), name)
        ctx.shape, ctx.name = tensor.shape, name
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        summed = allreduce_(gradients[0].detach().clone(), Sum, ctx.name)
        rows = ctx.shape[0] if ctx.shape else 1
        return summed[ctx.begin:ctx.begin + rows].reshape(ctx.shape), None


def alltoall(tensor: torch.Tensor, splits: Any = None, name: Optional[str] = None) -> Any:
    """Returns the rows that all peers have for this one, in the order of the peers; with splits also how many of each.

    splits: how many rows each peer gets, in order; without, all get equally many. Every peer receives all rows, and
    takes its own. Raises as allreduce does.
    """
    info = _process.current().info
    if splits is None and len(tensor) % info["peers"]:
        raise Error(f"{len(tensor)} rows for {info['peers']} peers\nhelp: splits=")
    each = torch.as_tensor([len(tensor) // info["peers"]] * info["peers"] if splits is None else splits)
    if len(each) != info["peers"] or int(each.sum()) != len(tensor):
        raise Error(f"splits of {each.tolist()}: they are of {info['peers']} peers and {len(tensor)} rows")
    table = allgather(each.to("cpu", torch.int64)[None], name)
    parts = torch.split(allgather(tensor, name), table.flatten().tolist())
    mine = torch.cat([parts[i * info["peers"] + info["id"]] for i in range(len(table))])
    return mine if splits is None else (mine, table[:, info["id"]].clone())


def reducescatter(tensor: torch.Tensor, name: Optional[str] = None, *, op: Any = Average, **more: Any) -> torch.Tensor:
    """Returns this peer's part of allreduce's result: its share of the rows, of which the first peers have one more."""
    info = _process.current().info
    return torch.tensor_split(allreduce(tensor, op, name, **more), info["peers"])[info["id"]].clone()


def allgather_object(value: Any, name: Optional[str] = None) -> List[Any]:
    """Returns all peers' values, in their order. They are what a checkpoint may hold: nothing in them is executed."""
    block = torch.frombuffer(bytearray(packed({"value": value})), dtype=torch.uint8)
    blocks = torch.split(allgather(block, name), allgather(torch.tensor([len(block)]), name).tolist())
    return [unpacked(bytes(each.numpy()))["value"] for each in blocks]


def broadcast_object(value: Any = None, root_rank: int = 0, name: Optional[str] = None) -> Any:
    """Returns the value of peer `root_rank`: what a checkpoint may hold, of which nothing is executed."""
    mine = _process.current().info["id"] == root_rank
    block = _sent(packed({"value": value}) if mine else b"", root_rank, name)
    return unpacked(block)["value"] if block else value


def broadcast(tensor: torch.Tensor, root: int = 0, name: Optional[str] = None, *,
              root_rank: Optional[int] = None) -> torch.Tensor:
    """Returns the tensor of peer `root`, of any type. Raises as allreduce does. root_rank: Horovod's name of `root`.

    The root's gradient is the sum of all peers', as in Horovod; the others' are zero.
    """
    if differentiates(tensor):
        return _Broadcasted.apply(tensor, root if root_rank is None else root_rank, name)
    return broadcast_(tensor.detach().clone(), root, name, root_rank=root_rank)


class _Broadcasted(torch.autograd.Function):
    """broadcast of a tensor that has a gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, root: int, name: Optional[str]) -> torch.Tensor:
        ctx.root, ctx.name = root, name
        return broadcast_(tensor.detach().clone(), root, name)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        summed = allreduce_(gradients[0].detach().clone(), Sum, ctx.name)
        return summed if _process.current().info["id"] == ctx.root else torch.zeros_like(summed), None, None


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
        sent = _sent(block, root, name)
        if not mine:
            take(unpacked(sent)["value"])
    if process.attached:
        travel()
    elif process.info["task"] == "peer":
        _verbs.check_root(root, process.info["peers"])
        process.later(travel)


def _sent(block: bytes, root: int, name: Optional[str]) -> bytes:
    """Returns the root's bytes."""
    length = int(broadcast_(torch.tensor([len(block)]), root, name))
    data = torch.frombuffer(bytearray(block), dtype=torch.uint8) if block else torch.empty(length, dtype=torch.uint8)
    return bytes(broadcast_(data, root, name).numpy()) if length else b""


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
