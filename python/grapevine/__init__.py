"""Grapevine: any program that trains becomes a peer of a decentralized fleet.

`grapevine.Peer` works on writable float32 buffers, such as NumPy's arrays. `grapevine.torch` and `grapevine.jax` do
the same for PyTorch and JAX; import them by name. `runs` reads run folders. `spectrum` and `plan` return results of the
program `grapevine`.
"""

from grapevine._errors import Disagreement, Error, PeerLost, Stopped
from grapevine._launch import launch
from grapevine._peer import Peer
from grapevine._process import init, shutdown
from grapevine._program import plan, spectrum
from grapevine._runs import runs
from grapevine._simulate import simulate
from grapevine._transfers import pull, push, wait
from grapevine._verbs import allreduce, barrier, broadcast, neighbor_average
from grapevine.sampler import Sampler, shard

__all__ = ["Disagreement", "Error", "Peer", "PeerLost", "Sampler", "Stopped", "allreduce", "barrier", "broadcast",
           "init", "launch", "neighbor_average", "plan", "pull", "push", "runs", "shard", "shutdown", "simulate",
           "spectrum", "wait"]
