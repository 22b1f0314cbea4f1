"""The statistics of batch norms in the fleet's model: no peer has those of the mean model."""

import contextlib
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple

import torch

from grapevine._errors import Error

BATCHES = 16        # over which statistics are computed
BATCH = 64          # samples of one, where a data set and no loader is known


class Statistics:
    """Computes the statistics again before the fleet's model is evaluated or saved, from the best data there is."""

    def __init__(self, model: Optional[torch.nn.Module], calibrate: Any, datasets: Sequence[Any],
                 evaluate: Optional[Callable[[], Any]]) -> None:
        """calibrate: a loader, or a function that runs the model on some batches. datasets: what samplers were made
        for. evaluate: calls the script's, whose inputs are the last resort.
        """
        self._model = model
        self._ways: List[Tuple[str, Callable[[], None]]] = []
        if callable(calibrate):
            self._ways.append(("calibrate=", lambda: self._by_evaluation(calibrate)))
        elif calibrate is not None:
            self._ways.append(("calibrate=", lambda: recalibrate(model, calibrate)))
        if not isinstance(model, (torch.nn.ModuleList, torch.nn.ModuleDict)):       # which no data go through
            self._ways += [("the data set of gv.Sampler", lambda data=data: recalibrate(model, batches_of(data)))
                           for data in datasets]
        if evaluate is not None:
            self._ways.append(("the inputs of evaluate", lambda: self._by_evaluation(evaluate)))

    def described(self) -> Optional[str]:
        """Returns where the statistics come from; None for a model without batch norms."""
        if not norms_of(self._model):
            return None
        if not self._ways:
            return ("the fleet's model gets no statistics of its batch norms, and is neither evaluated nor saved "
                    "whole. help: DistributedOptimizer(..., calibrate=loader), or a function that runs the model")
        return (f"the batch norms of the fleet's model get the statistics of {self._ways[0][0]}"
                + ("" if self._ways[0][0] == "calibrate=" else "; calibrate=loader names other data"))

    def renew(self) -> None:
        """Computes them. Raises Error if no data is known on which the model runs."""
        if not norms_of(self._model):
            return
        failures = []
        for name, way in self._ways:
            try:
                return way()
            except Exception as why:
                failures.append(f"; {name} failed: {why}")
        raise Error(f"the batch norms of the fleet's model have no statistics{''.join(failures)}\n"
                    "help: DistributedOptimizer(..., calibrate=loader)")

    def _by_evaluation(self, evaluate: Callable[[], Any]) -> None:
        with torch.no_grad(), gathering(self._model):
            evaluate()


def norms_of(model: Optional[torch.nn.Module]) -> List[Any]:
    """Returns the batch norms that keep statistics."""
    return [] if model is None else [module for module in model.modules() if module_keeps(module)]


def module_keeps(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.running_mean is not None


@contextlib.contextmanager
def gathering(model: torch.nn.Module) -> Iterator[None]:
    """Makes the statistics, from here to the end, the mean over all batches that go through the model.

    All other modules stay in their mode: the caller chooses it.
    """
    kept = [(norm, norm.momentum, norm.training) for norm in norms_of(model)]
    for norm, _, _ in kept:
        norm.reset_running_stats()
        norm.momentum, norm.training = None, True     # None: the mean over all batches
    try:
        yield
    finally:
        for norm, momentum, training in kept:
            norm.momentum, norm.training = momentum, training
    if any(int(norm.num_batches_tracked) == 0 for norm, _, _ in kept):
        raise Error("a batch norm has seen no batch")


@torch.no_grad()
def recalibrate(model: torch.nn.Module, loader: Iterable, batches: int = BATCHES) -> None:
    """Computes the running statistics of batch norms again, because no peer has the statistics of an averaged model.

    loader: yields inputs, or tuples that begin with inputs. batches: maximum number of batches.
    """
    if not norms_of(model):
        return
    place = next(model.parameters()).device
    with gathering(model):
        for _, batch in zip(range(batches), loader):
            model((batch[0] if isinstance(batch, (list, tuple)) else batch).to(place))


def batches_of(dataset: Any) -> Iterator[Any]:
    """Yields batches of samples that lie evenly over a data set."""
    count = min(len(dataset), BATCHES * BATCH)
    rows = [i * len(dataset) // count for i in range(count)]
    spread = [rows[i::BATCHES] for i in range(min(BATCHES, count))]
    return (torch.utils.data.default_collate([dataset[row] for row in some]) for some in spread)
