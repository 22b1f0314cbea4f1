"""Sampler of a peer's share of a data set."""

import random
from typing import Any, Iterator, Optional, Sequence

from grapevine import _process
from grapevine._errors import Error


class Sampler:
    """The rows of this peer's share, in a new order each epoch; for DataLoader(sampler=...).

    The division is data.partition of the fleet file, as for built-in peers: no two peers share a row. Under all-reduce,
    each step waits for all peers, so all peers get the same number of rows: the first rows of their share, or some rows
    twice.
    """

    def __init__(self, dataset: Any, labels: Optional[Sequence[int]] = None, shuffle: bool = True) -> None:
        """dataset: any object with a length.
        labels: the class of each sample, >= 0. Needed by dirichlet and by-label; the default is dataset.targets.
        shuffle: False keeps the order of the share.

        Raises Error before init(), for missing labels, and for a peer without a sample.
        """
        process = _process.current()
        if labels is None and process.info["partition"] not in ("iid", "quantity"):
            labels = getattr(dataset, "targets", None)
            if labels is None:
                raise Error(f"data.partition is {process.info['partition']}, which needs the classes of the samples\n"
                            "help: Sampler(dataset, labels=[...])")
        if labels is not None:
            labels = [int(label) for label in labels]
        rows = list(process.session.rows(len(dataset), labels))
        if process.info["gradients"] == "written":
            rows = evened(rows, len(dataset) // process.info["peers"])
        if not rows:
            raise Error(f"peer {process.info['id']} has none of the {len(dataset)} samples\n"
                        "help: fewer peers, or another data.partition")
        self.rows, self.dataset = rows, dataset
        self._shuffle = shuffle
        self._seed = process.info["peer_seed"]
        self._epoch = 0
        self._skip = 0
        process.progress.samplers.append(self)

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of the next pass; `epochs` calls it. Without it, each pass takes the next order."""
        self._epoch = epoch

    def skip(self, rows: int) -> None:
        """Skips this number of rows at the beginning of the next pass only."""
        self._skip = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[int]:
        order = list(self.rows)
        if self._shuffle:
            random.Random(f"{self._seed}/{self._epoch}").shuffle(order)
        begin, self._skip = self._skip, 0
        self._epoch += 1
        return iter(order[begin:])


def evened(rows: Sequence[int], count: int) -> list:
    """Returns `count` of the rows: the first ones, or from the first one on again where they are too few."""
    return [rows[i % len(rows)] for i in range(count)] if rows else []


def shard(dataset: Any, labels: Optional[Sequence[int]] = None) -> Any:
    """Returns this peer's share of a data set as a data set, for trainers that make their own samplers.

    dataset: any object with a length, and with `select` (Hugging Face) or items by number. labels: as for Sampler.
    """
    rows = Sampler(dataset, labels).rows
    if hasattr(dataset, "select"):
        return dataset.select(rows)
    return Share(dataset, rows)


class Share:
    """Some of the items of a data set, in its order."""

    def __init__(self, dataset: Any, rows: Sequence[int]) -> None:
        self._dataset, self._rows = dataset, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, i: int) -> Any:
        return self._dataset[self._rows[i]]
