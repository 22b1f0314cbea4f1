"""The streams of CUDA on which a script computes: what was given to them, and when it is done."""

from typing import Any, List, Sequence

import torch


class Streams:
    """Of the CUDA devices among some; without one there is nothing to wait for.

    What the script has on other streams of a device, batches that are on their way to it say, goes on meanwhile.
    """

    def __init__(self, devices: Sequence[torch.device]) -> None:
        self._devices = list(dict.fromkeys(device for device in devices if device.type == "cuda"))
        self._marks: List[Any] = []

    def wait(self) -> None:
        """Waits until the current streams have done all that they were given. Raises RuntimeError where one failed."""
        for device in self._devices:
            torch.cuda.current_stream(device).synchronize()

    def mark(self) -> None:
        """Notes what the current streams have been given, for wait_for_marks()."""
        self._marks += [torch.cuda.current_stream(device).record_event() for device in self._devices]

    def wait_for_marks(self) -> None:
        """Waits until all that was given before a mark is done, whichever stream is the current one by now."""
        marks, self._marks = self._marks, []
        for mark in marks:
            mark.synchronize()
