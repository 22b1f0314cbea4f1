"""Names of Horovod besides the verbs: calls that return later there, questions about its parts, and names without a
place here.
"""

from typing import Any, Callable, List, Sequence

from grapevine import _torch_verbs as verbs
from grapevine import _transfers
from grapevine._errors import Error, PeerLost

__all__ = ["Adasum", "HorovodInternalError", "allgather_async", "allreduce_async", "allreduce_async_",
           "alltoall_async", "broadcast_async", "broadcast_async_", "ccl_built", "cuda_built", "ddl_built",
           "gloo_built", "gloo_enabled", "grouped_allgather", "grouped_allgather_async", "grouped_allreduce",
           "grouped_allreduce_", "grouped_allreduce_async", "grouped_allreduce_async_", "grouped_reducescatter",
           "grouped_reducescatter_async", "mpi_built", "mpi_enabled", "mpi_threads_supported", "nccl_built", "poll",
           "reducescatter_async", "rocm_built", "synchronize"]

Adasum = "adasum"       # which DistributedOptimizer and allreduce refuse
HorovodInternalError = PeerLost


class Done:
    """The handle of a call with `_async`, which is over already: every peer makes its calls in the same order."""

    def __init__(self, result: Any) -> None:
        self.result = result


def at_once(call: Callable) -> Callable:
    """Returns Horovod's call with _async: it makes the call, and `synchronize` returns the result."""
    def begun(*words: Any, **more: Any) -> Done:
        return Done(call(*words, **more))
    begun.__doc__ = f"Makes the call {call.__name__} and returns a handle, whose result `synchronize` returns."
    return begun


def of_each(call: Callable) -> Callable:
    """Returns Horovod's grouped call, of a list of tensors."""
    def grouped(tensors: Sequence[Any], *words: Any, **more: Any) -> List[Any]:
        return [call(tensor, *words, **more) for tensor in tensors]
    grouped.__name__ = f"grouped_{call.__name__}"
    grouped.__doc__ = f"Makes the call {call.__name__} for each tensor of a list."
    return grouped


def synchronize(handle: Any) -> Any:
    """Returns the result of a call with _async, or waits for a push or a pull."""
    return handle.result if isinstance(handle, Done) else _transfers.wait(handle)


def poll(handle: Done) -> bool:
    """Returns whether a call with _async is over, which it always is."""
    return True


def nothing_built() -> bool:
    """Returns False: peers use none of the libraries under Horovod."""
    return False


class Absent:
    """A name of Horovod that has no place here: its use raises Error, with what to do instead."""

    def __init__(self, name: str, text: str) -> None:
        self._text = f"{name}: {text}"

    def __call__(self, *words: Any, **more: Any) -> Any:
        raise Error(self._text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Error(self._text)


SETS = "all peers of a fleet make a call together\nhelp: gv.push and gv.pull, for two peers"
HOSTS = "a peer knows of its own host alone\nhelp: gv.local_rank() and gv.local_size()"
LINES = "the run keeps its own times\nhelp: `grapevine report` of the run's folder"
ABSENT = {
    "SyncBatchNorm": "each peer has the statistics of its own batches\nhelp: torch.nn.BatchNorm without "
                     "convert_sync_batchnorm; the fleet's model gets statistics of its own (calibrate=)",
    "join": "a peer that ends early leaves, and the method decides what the others do\nhelp: gv.Sampler gives all the "
            "same number of batches, and the loop of gv.running ends for all",
    "elastic": "a peer that dies is left out, and may come back\nhelp: remove it; DistributedOptimizer(..., "
               "state=[...]) and gv.epochs keep what a peer needs to resume",
    "cross_rank": HOSTS, "cross_size": HOSTS, "is_homogeneous": HOSTS,
    "ProcessSet": SETS, "add_process_set": SETS, "remove_process_set": SETS, "global_process_set": SETS,
    "start_timeline": LINES, "stop_timeline": LINES,
    "broadcast_object_fn": "broadcast_object sends what a checkpoint may hold\nhelp: broadcast_object",
    "sparse_allreduce_async": "sparse tensors do not add up here\nhelp: allreduce(tensor.to_dense())"}

allreduce_async, allreduce_async_ = at_once(verbs.allreduce), at_once(verbs.allreduce_)
broadcast_async, broadcast_async_ = at_once(verbs.broadcast), at_once(verbs.broadcast_)
allgather_async, alltoall_async = at_once(verbs.allgather), at_once(verbs.alltoall)
reducescatter_async = at_once(verbs.reducescatter)
grouped_allreduce, grouped_allreduce_ = of_each(verbs.allreduce), of_each(verbs.allreduce_)
grouped_allgather, grouped_reducescatter = of_each(verbs.allgather), of_each(verbs.reducescatter)
grouped_allreduce_async, grouped_allreduce_async_ = at_once(grouped_allreduce), at_once(grouped_allreduce_)
grouped_allgather_async, grouped_reducescatter_async = at_once(grouped_allgather), at_once(grouped_reducescatter)
mpi_built = mpi_enabled = mpi_threads_supported = gloo_built = gloo_enabled = nothing_built
nccl_built = ddl_built = ccl_built = cuda_built = rocm_built = nothing_built
