"""The folders that a script's first process makes, which is no peer: peer 0 makes them, too."""

import os
from typing import Any, Callable, List


class NewFolders:
    """Notes the folders that this process makes; remove() takes away those that are still empty.

    `os.makedirs` and `pathlib` make theirs by `os.mkdir`, too.
    """

    def __init__(self) -> None:
        self._made: List[str] = []
        self._mkdir: Callable = os.mkdir
        os.mkdir = self._noting      # type: ignore[assignment]

    def _noting(self, path: Any, *args: Any, **kwargs: Any) -> None:
        self._mkdir(path, *args, **kwargs)
        if "dir_fd" not in kwargs:
            self._made.append(os.path.abspath(os.fsdecode(path)))

    def remove(self) -> None:
        """Removes the empty ones, the last first, and notes no more."""
        if os.mkdir == self._noting:
            os.mkdir = self._mkdir
        while self._made:
            try:
                os.rmdir(self._made.pop())
            except OSError:
                pass        # it has files by now
