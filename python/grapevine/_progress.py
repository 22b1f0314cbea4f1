"""Where a script is in its data: epochs, the batches that were given out, and when to stop."""

import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional

SILENCE_S = 60.0     # of batches without a step, after which something is wrong


class Progress:
    """Counts what `epochs` and `running` give out, so that a checkpoint can hold the place and a script end in time."""

    def __init__(self, info: Dict[str, Any]) -> None:
        self._epochs: Optional[int] = info.get("epochs")
        self.epoch = 0
        self.given = 0            # batches of this epoch that the script has got
        self.samples = 0          # in them since the last turn
        self.active = False       # the script is inside `running`, which ends by itself
        self.within = False       # it has a batch of `running`, and comes back for the next one
        self.aware = False        # the script's loop begins where a checkpoint was: by `epochs`, or by the round
        self.samplers: List[Any] = []
        self.over: Callable[[], bool] = lambda: False
        self.steps: Callable[[], Optional[int]] = lambda: None
        self.warn: Callable[[str], None] = lambda text: None
        self.began: Any = None    # the state of the random numbers before this pass
        self.random: Callable[[], Any] = lambda: None
        self.be_random: Callable[[Any], None] = lambda state: None
        self.behind: Callable[[], Any] = lambda: None     # called when a batch is done, with the code behind its step

    def epochs(self, n: Optional[int]) -> Iterator[int]:
        """Gives the epochs from the place at hand on, until n are done or the fleet stops."""
        last = self._epochs if n is None else n
        self.aware = True
        while not self.over() and (last is None or self.epoch < last):
            for sampler in self.samplers:
                sampler.set_epoch(self.epoch)
            yield self.epoch
            self.epoch, self.given = self.epoch + 1, 0

    def running(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Gives the batches of a pass from the place at hand on, until they or the fleet end."""
        watch = Watch(self)
        batches = self._from_here(loader)
        try:
            while not self.over():
                self.active = False     # an exception of the loader is the script's
                try:
                    batch = next(batches)
                except StopIteration:
                    return
                self.active = True
                self.given += 1
                self.samples += length(batch)
                self.within = True
                yield batch
                self.within = False
                self.behind()
                watch.look()
        finally:
            self.active = self.within = False
            if not self.over():
                self.given = 0

    def asks(self) -> None:
        """Notes that the script has asked for the round; before its first step, that is where its loop begins."""
        self.aware = self.aware or self.steps() == 0

    def take_samples(self) -> Optional[int]:
        """Returns how many samples were given out since the last call; None where `running` gave none."""
        samples, self.samples = self.samples, 0
        return samples or None

    def place(self) -> Dict[str, int]:
        """Returns the place in the data, for a checkpoint."""
        return {"epoch": self.epoch, "given": self.given}

    def go_on(self, place: Dict[str, int], began: Any = None) -> None:
        """Goes on from the place that a checkpoint held; began: random numbers as they were before its pass."""
        self.epoch, self.given, self.began = int(place["epoch"]), int(place["given"]), began

    def _from_here(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Begins a pass. In the middle of one a loader draws what it drew at its beginning, and nobody draws more."""
        now = self.random()
        if not self.given:
            self.began = now
            return iter(loader)
        if self.began is not None:
            self.be_random(self.began)
        batches = self._skipped(loader)
        self.be_random(now)
        return batches

    def _skipped(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Skips what was given out before: in the sampler where it is ours, else by loading it."""
        batch = getattr(loader, "batch_size", None)
        sampler = getattr(loader, "sampler", None)
        if batch and sampler in self.samplers:
            sampler.skip(self.given * batch)
            return iter(loader)
        batches = iter(loader)
        for _ in range(self.given):
            next(batches, None)
        return batches


class Watch:
    """Says once that batches go by and no step ends a turn, as with optimizers that step inside backward."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._since = time.monotonic()
        self._steps = progress.steps()

    def look(self) -> None:
        if self._steps is None or time.monotonic() - self._since < SILENCE_S:
            return
        if self._progress.steps() == self._steps:
            self._progress.warn(f"{SILENCE_S:.0f} s of batches, and the optimizer that DistributedOptimizer was given "
                                "has made no step: nothing is averaged")
        self._steps = None


def length(batch: Any) -> int:
    """Returns how many samples a batch has: the first dimension of its first tensor; 0 where that cannot be seen."""
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        return length(batch[0]) if batch else 0
    shape = getattr(batch, "shape", ())
    return int(shape[0]) if len(shape) else 0
