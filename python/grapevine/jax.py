"""A JAX program as a peer of a fleet: `grapevine.Peer` for a pytree, whose leaves are copied.

    peer = grapevine.jax.Peer(params)
    while peer.running:
        loss, gradients = value_and_grad(params, batch)
        params, gradients = peer.before(params, loss, gradients)
        if gradients is not None:
            updates, state = optimizer.update(gradients, state, params)
            params = optax.apply_updates(params, updates)
        params = peer.after(params)
"""

from typing import Any, Callable, List, Optional, Tuple

import jax
import numpy

from grapevine import _peer
from grapevine._errors import Error


class Peer:
    """The leaves of a pytree as the parameters of a peer; each leaf is float32, of any shape."""

    def __init__(self, params: Any, evaluate: Optional[Callable[[Any], Any]] = None,
                 state: Optional[Tuple[Callable[[], bytes], Callable[[bytes], None]]] = None,
                 rate: Optional[float] = None) -> None:
        """Joins the fleet; returns when the neighbours are there. `self.params` then has the fleet's first values.

        evaluate: evaluate(params) returns the test loss, (loss, accuracy) or a dictionary of numbers.
        state, rate: as for grapevine.Peer, which raises the same exceptions.
        """
        pairs, self._tree = jax.tree_util.tree_flatten_with_path(params)
        self._arrays = {jax.tree_util.keystr(path): copied(jax.tree_util.keystr(path), leaf) for path, leaf in pairs}
        self._gradients: Optional[List[numpy.ndarray]] = None
        answer = None if evaluate is None else lambda: evaluate(self.params)
        self._peer = _peer.Peer(self._arrays, evaluate=answer, state=state, rate=rate, optimizer="jax",
                                lends=False)

    @property
    def params(self) -> Any:
        """Returns the fleet's values as a pytree."""
        return self._pytree(list(self._arrays.values()))

    @property
    def running(self) -> bool:
        """Returns whether the fleet is still training."""
        return self._peer.running

    def before(self, params: Any, loss: Any, gradients: Any, *, rate: Optional[float] = None,
               samples: Optional[int] = None) -> Tuple[Any, Any]:
        """Call this before the optimizer's step. Returns the parameters and the gradients for the step.

        gradients: a pytree like params. The returned gradients are the fleet's if the method changes gradients, and
        None if the script must not step.
        """
        self._write(list(self._arrays.values()), params)
        if self._gradients is None:
            self._gradients = [numpy.zeros_like(array) for array in self._arrays.values()]
        self._write(self._gradients, gradients)
        steps = self._peer.before(float(loss), self._gradients, rate=rate, samples=samples)
        return self.params, self._pytree(self._gradients) if steps else None

    def after(self, params: Any) -> Any:
        """Call this after the optimizer's step. Returns the parameters for the next gradient."""
        self._write(list(self._arrays.values()), params)
        self._peer.after()
        return self.params

    def log(self, **scalars: float) -> None:
        """Records numbers of this round in the peer's folder."""
        self._peer.log(**scalars)

    def stop(self) -> None:
        """Leaves the fleet after this round."""
        self._peer.stop()

    def _pytree(self, arrays: List[numpy.ndarray]) -> Any:
        return jax.tree_util.tree_unflatten(self._tree, [jax.numpy.array(array) for array in arrays])

    def _write(self, arrays: List[numpy.ndarray], tree: Any) -> None:
        leaves = jax.tree_util.tree_leaves(tree)
        if len(leaves) != len(arrays):
            raise Error(f"{len(leaves)} leaves, and the parameters have {len(arrays)}")
        for array, leaf in zip(arrays, leaves):
            numpy.copyto(array, numpy.asarray(leaf), casting="no")


def copied(name: str, leaf: Any) -> numpy.ndarray:
    """Returns a writable copy of a leaf on the host. Raises Error where it is not float32."""
    array = numpy.array(leaf)
    if array.dtype != numpy.float32:
        raise Error(f"params{name} is {array.dtype}: parameters travel as float32")
    return array
