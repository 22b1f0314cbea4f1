"""The statistics of batch norms in the fleet's model: no peer has those of the mean model."""

import contextlib
import gc
import inspect
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

import torch

from grapevine._errors import Error

BATCHES = 16        # over which statistics are computed
BATCH = 64          # samples of one, where a data set and no loader is known
EVALUATE = "the inputs of evaluate"
Way = Tuple[str, Callable[[int], None]]     # takes the number of batches at most


class Statistics:
    """Computes the statistics again before the fleet's model is evaluated or saved, from the best data there is."""

    def __init__(self, model: Optional[torch.nn.Module], calibrate: Any, datasets: Sequence[Any],
                 evaluate: Optional[Callable[[], Any]]) -> None:
        """calibrate: a loader, or a function that runs the model on some batches. datasets: what samplers were made
        for. evaluate: calls the script's, whose inputs are the last resort.
        """
        self._model = model
        self._ways: List[Way] = []
        self._calls = callable(calibrate)
        if callable(calibrate):
            self._ways.append(("calibrate=", lambda most: self._by_evaluation(calibrate)))
        elif calibrate is not None:
            self._ways.append(("calibrate=", lambda most: recalibrate(model, calibrate, most)))
        if not isinstance(model, (torch.nn.ModuleList, torch.nn.ModuleDict)):       # which no data go through
            named = [("the data set of gv.Sampler", data) for data in datasets]
            if not named and norms_of(model):
                named = [("the data set of a DataLoader", data) for data in loaded()]
            self._ways += [(name, lambda most, data=data: recalibrate(model, batches_of(data), most))
                           for name, data in named]
        if evaluate is not None:
            self._ways.append((EVALUATE, lambda most: self._by_evaluation(evaluate)))

    def tried(self) -> Optional[str]:
        """Returns where the statistics come from; None for a model without batch norms, which stays as it was.

        Data are tried on one batch. Functions are trusted, because they may take long.
        """
        if not norms_of(self._model):
            return None
        kept = {name: value.clone() for name, value in self._model.named_buffers()}
        ways = [(name, (lambda most: None) if name == EVALUATE or name == "calibrate=" and self._calls else way)
                for name, way in self._ways]
        try:
            name = self._first(ways, 1)
        except Error as why:
            return f"the fleet's model is neither evaluated nor saved whole: {why}"
        finally:
            with torch.no_grad():
                for buffer, value in kept.items():
                    self._model.get_buffer(buffer).copy_(value)
        return (f"the batch norms of the fleet's model get the statistics of {name}"
                + ("" if name == "calibrate=" else "; calibrate=loader names other data"))

    def renew(self) -> None:
        """Computes them. Raises Error if no data is known on which the model runs."""
        if norms_of(self._model):
            self._first(self._ways, BATCHES)

    def _first(self, ways: List[Way], batches: int) -> str:
        """Takes the first way that works, and returns its name."""
        failures = []
        for name, way in ways:
            try:
                way(batches)
                return name
            except Exception as why:
                failures.append(f"; {name} failed: {why}")
        raise Error(f"the batch norms of the fleet's model have no statistics{''.join(failures)}\n"
                    "help: DistributedOptimizer(..., calibrate=loader), or a function that runs the model")

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

    loader: yields inputs, tuples that begin with inputs, or dictionaries (see `run`). batches: maximum number.
    """
    if not norms_of(model):
        return
    place = next(model.parameters()).device
    with gathering(model):
        for _, batch in zip(range(batches), loader):
            run(model, batch, place)


def run(model: torch.nn.Module, batch: Any, place: torch.device) -> Any:
    """Runs a model on a batch: on its first part, or of a dictionary on the values whose names the model takes.

    A model that takes none of the names gets the dictionary, or if that fails, its first value.
    """
    if isinstance(batch, (list, tuple)):
        batch = batch[0]
    if not isinstance(batch, Mapping):
        return model(batch.to(place))
    values = {name: value.to(place) if isinstance(value, torch.Tensor) else value for name, value in batch.items()}
    named = taken(model, values)
    if named:
        return model(**named)
    try:
        return model(values)
    except Exception:
        return model(next(iter(values.values())))


def taken(model: torch.nn.Module, values: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the values whose names are those of the model's arguments."""
    names = inspect.signature(model.forward).parameters.values()
    return {name.name: values[name.name] for name in names if name.name in values and name.kind != name.VAR_KEYWORD}


def loaded() -> List[Any]:
    """Returns the data sets of all loaders that exist; first those in a random order, which training data have."""
    kind, ordered = torch.utils.data.DataLoader, torch.utils.data.SequentialSampler
    loaders = [each for each in gc.get_objects() if issubclass(type(each), kind) and hasattr(each.dataset, "__len__")]
    return [each.dataset for each in sorted(loaders, key=lambda loader: isinstance(loader.sampler, ordered))]


def batches_of(dataset: Any) -> Iterator[Any]:
    """Yields batches of samples that lie evenly over a data set."""
    count = min(len(dataset), BATCHES * BATCH)
    rows = [i * len(dataset) // count for i in range(count)]
    spread = [rows[i::BATCHES] for i in range(min(BATCHES, count))]
    return (torch.utils.data.default_collate([dataset[row] for row in some]) for some in spread)
