"""What all peers do together with tensors of PyTorch."""

from typing import Any, Optional

import torch

from grapevine import _library as lib
from grapevine import _transfers, _verbs
from grapevine._errors import Error

Average = "average"
Sum = "sum"


class Compression:
    """Horovod's names. Here the fleet file compresses what travels: `algorithm: { codec: ... }`."""

    none = "none"
    fp16 = "fp16"


def allreduce(tensor: torch.Tensor, op: Any = Average, name: Optional[str] = None, *, average: Optional[bool] = None,
              compression: str = Compression.none) -> torch.Tensor:
    """Returns the mean, or with op="sum" the sum, of all peers' tensors: the same bits at each, in the tensor's type.

    Tensors of one shape and type on any devices; whole numbers have only a sum. name: what it is about; peers that name
    a call otherwise disagree. average: Horovod's earlier name, True or False. compression: sums travel whole.
    Every peer makes the same calls in the same order, at any round; it returns when all have. Raises Error before
    DistributedOptimizer, PeerLost where a peer has died or left, Disagreement where one made another call, Stopped
    where the fleet has stopped.
    """
    return allreduce_(tensor.detach().clone(), op, name, average=average, compression=compression)


def allreduce_(tensor: torch.Tensor, op: Any = Average, name: Optional[str] = None, *, average: Optional[bool] = None,
               compression: str = Compression.none) -> torch.Tensor:
    """Does what allreduce does in place."""
    if isinstance(op, bool) or op is None:
        op, average = Average, op if average is None else average      # Horovod's second argument
    if average is not None:
        op = Average if average else Sum
    _verb(_verbs.verb_of(op), tensor, _added_up(tensor.dtype), 0, name)
    return tensor


def broadcast(tensor: torch.Tensor, root: int = 0, name: Optional[str] = None, *,
              root_rank: Optional[int] = None) -> torch.Tensor:
    """Returns the tensor of peer `root`, at all peers; of any type. Raises as allreduce does. root_rank: Horovod's."""
    return broadcast_(tensor.detach().clone(), root, name, root_rank=root_rank)


def broadcast_(tensor: torch.Tensor, root: int = 0, name: Optional[str] = None, *,
               root_rank: Optional[int] = None) -> torch.Tensor:
    """Does what broadcast does in place."""
    _verb(lib.BROADCAST, tensor, tensor.dtype, root if root_rank is None else root_rank, name)
    return tensor


def neighbor_average(tensor: torch.Tensor, name: Optional[str] = None) -> torch.Tensor:
    """Returns the sum of the neighbours' tensors and this one, each times its weight (`weights()`).

    Waits for the neighbours only. Raises Error where the graph changes with the rounds or has no weights, and else as
    allreduce does.
    """
    result = tensor.detach().clone()
    _verb(lib.NEIGHBOR_AVERAGE, result, _added_up(result.dtype), 0, name)
    return result


def push(tensor: torch.Tensor, to: int, name: Optional[str] = None) -> _transfers.Handle:
    """Pushes a tensor to neighbour `to`, for a pull there; returns at once. The tensor may change right after.

    The nth push to a peer is for its nth pull from this one. name: what it is about; it disagrees with a pull of
    another name. Nothing travels before it is pulled: `wait` for the handle before the end. Raises Error where the two
    have no link.
    """
    copy = tensor.detach().to("cpu").contiguous()
    return _transfers.begun_push(copy.data_ptr(), copy.numel() * copy.element_size(), _kind(copy.dtype), to, name)


def pull(tensor: torch.Tensor, source: int, name: Optional[str] = None) -> _transfers.Handle:
    """Asks neighbour `source` for what it pushes, into a tensor of the same type and size; returns at once.

    The tensor holds what came when `wait` has returned it. Raises as push does.
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
