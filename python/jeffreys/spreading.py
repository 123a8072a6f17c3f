"""Fits that belong together, each a task of its own: on whichever workers a backend of joblib has."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator

from .estimator import threads_of


class Parcel:
    """What a task is given, in one piece. joblib leaves larger arrays with a single one of Dask's workers for all others to
    fetch, and if that worker dies they are lost; what is in a parcel travels with its task."""

    def __init__(self, *items: Any):
        self.items = items


def workers() -> int:
    """How many tasks run at a time on the backend that `joblib.parallel_backend` has chosen around this call.

    0 where there is none: then the library's own threads do the work, as they do in place of joblib's threads. Workers
    of such a backend do not spread their work again.
    """
    parallel = sys.modules.get("joblib.parallel")
    if parallel is None:
        return 0
    backend, n_jobs = parallel.get_active_backend(prefer="threads")
    if getattr(backend, "supports_sharedmem", False) or backend.nesting_level:
        return 0
    return backend.effective_n_jobs(n_jobs)


def spread(task: Callable, calls: list[tuple]) -> Iterator[Any]:
    """The results of task(*call) in the order of the calls. They are made in rounds of two for each worker, and each round
    is handed over before the next begins, so that the caller can keep it."""
    from joblib import Parallel, delayed

    most = 2 * max(workers(), 1)
    parallel = Parallel(batch_size=1)
    for first in range(0, len(calls), most):
        yield from parallel(delayed(open_parcel)(Parcel(task, *call)) for call in calls[first : first + most])


def open_parcel(parcel: Parcel) -> Any:
    """The task, with what it is given."""
    task, *arguments = parcel.items
    return task(*arguments)


def _member(fit: Callable, arguments: tuple, member: int) -> bytes:
    """One of several fits, in whichever process: its file."""
    with tempfile.TemporaryDirectory(prefix="jeffreys-") as folder:
        fit(*arguments, folder, member, threads_of(None))
        return Path(folder, f"{member + 1}.model").read_bytes()


def spread_members(fit: Callable, arguments: tuple, members: int, checkpoint: str, callback: Callable | None) -> None:
    """Fits members as tasks and leaves their files where the library will find them when it resumes.

    fit(*arguments, folder, member, threads) leaves one of them in the folder. Those that are there already stay.
    """
    folder = Path(checkpoint + ".members")
    folder.mkdir(parents=True, exist_ok=True)
    missing = [m for m in range(members) if not (folder / f"{m + 1}.model").exists()]
    made = spread(_member, [(fit, arguments, m) for m in missing])
    for done, (member, file) in enumerate(zip(missing, made), members - len(missing) + 1):
        unfinished = folder / f"{member + 1}.model.part"
        unfinished.write_bytes(file)
        os.replace(unfinished, folder / f"{member + 1}.model")
        if callback is not None:
            callback({"label": "members", "iteration": done, "iterations": members})
