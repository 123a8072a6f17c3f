"""Models as bytes, by way of their files; and where an interrupted fit leaves its checkpoint."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Callable


def to_bytes(save: Callable[[str], None]) -> bytes:
    """What `save` writes to a path."""
    with tempfile.TemporaryDirectory(prefix="jeffreys-") as folder:
        path = Path(folder, "model")
        save(str(path))
        return path.read_bytes()


def from_bytes(load: Callable[[str], Any], file: bytes) -> Any:
    """What `load` reads from a path with these bytes."""
    with tempfile.TemporaryDirectory(prefix="jeffreys-") as folder:
        path = Path(folder, "model")
        path.write_bytes(file)
        return load(str(path))


class Scratch:
    """The checkpoint of an estimator that was given no file for it: gone when the estimator is, and not copied with it."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory | None = None

    def checkpoint(self, given: str | os.PathLike | None) -> str:
        if given is not None:
            return os.fspath(given)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="jeffreys-")
        return os.path.join(self._folder.name, "fit.checkpoint")

    def __reduce__(self) -> tuple:
        return Scratch, ()
