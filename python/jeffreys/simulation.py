"""Many simulations, by a function or a command, on one core or on many machines."""

from __future__ import annotations

import inspect
import os
import threading
import warnings
from typing import Any, Callable

import numpy as np

from . import _core
from .estimator import seed_of, threads_of
from .prior import Prior, as_prior
from .progress import Progress
from .spreading import Parcel, open_parcel


class Simulations(tuple):
    """theta and x, which it unpacks to, and the report of what became of the rows.

    Both are of the rows that succeeded. report: requested, simulated, resumed, failed, failures by kind.
    """

    report: dict
    parameter_names: list[str]
    outcome_names: list[str]

    def __new__(cls, theta: np.ndarray, x: np.ndarray, report: dict, names: tuple[list[str], list[str]]):
        made = super().__new__(cls, (theta, x))
        made.report = report
        made.parameter_names, made.outcome_names = names
        return made

    @property
    def theta(self) -> np.ndarray:
        return self[0]

    @property
    def x(self) -> np.ndarray:
        return self[1]

    def __reduce__(self) -> tuple:
        return Simulations, (*self, self.report, (self.parameter_names, self.outcome_names))


def simulate(
    simulator: Callable | str,
    prior: Any,
    num_simulations: int,
    *,
    n_jobs: int | None = None,
    journal: str | os.PathLike | None = None,
    seed: Any = 0,
    vectorized: bool = True,
    rows_per_call: int = 100,
    call_seconds: float = 60,
    outcomes: list[str] | None = None,
    retry_failed: bool = False,
    verbose: Any = "auto",
    callback: Callable[[dict], Any] | None = None,
) -> Simulations:
    """Draws parameters from the prior and simulates their outcomes: theta, x.

    Parameters
    ----------
    simulator : a function of parameters [rows, parameters] that gives outcomes [rows, outcomes], or a command as the program
        runs it. With vectorized=False the function gets one row at a time. If it has an argument called `rng`, that is a
        NumPy generator of these rows, so that the seed decides everything.
    n_jobs : calls at the same time. A function goes through joblib: any of its backends (processes, Dask, Ray) spreads it.
    journal : a file that keeps every call, so that nothing is simulated twice: the same call goes on where it was stopped,
        and a larger number adds to it. The program's journals are of the same form.

    Rows that fail are tried once more by themselves, then left out and counted.

    >>> import numpy as np, jeffreys as jf
    >>> theta, x = jf.simulate(lambda t, rng: t + rng.normal(size=t.shape), jf.Prior(a=jf.Uniform(0, 1)), 50)
    >>> theta.shape, x.shape
    ((50, 1), (50, 1))
    """
    prior = as_prior(prior)
    seed = seed_of(seed)
    if isinstance(num_simulations, bool) or not hasattr(num_simulations, "__index__") or num_simulations < 1:
        raise ValueError(f"num_simulations: expected a whole number from 1 on, got {num_simulations!r}")
    if isinstance(simulator, str):
        run, width, processes, identity = simulator, len(outcomes or []), threads_of(n_jobs), simulator
    elif callable(simulator):
        run = _Spread(simulator, prior, num_simulations, rows_per_call, seed, vectorized, n_jobs)
        width, processes, identity = run.width(), 1, run.identity
    else:
        raise TypeError(f"simulator: expected a function or a command, got {type(simulator).__name__}")
    if outcomes is not None and width not in (0, len(outcomes)):
        raise _core.InputError(f"outcomes: expected {width} names, one for each outcome of the simulator, got {len(outcomes)}")
    path = "" if journal is None else os.fspath(journal)
    try:
        with Progress(verbose, callback) as progress:
            table, report = _core.simulate(
                run, width, call_seconds, prior._prior, num_simulations, rows_per_call, processes, seed, outcomes or [],
                path, retry_failed, {"simulator": identity, "prior": "; ".join(prior._prior.describe())}, progress.tell,
            )  # fmt: skip
    finally:
        if path and os.path.exists(path) and os.path.getsize(path) == 0:
            os.remove(path)
    return _finish(table, report, prior)


def _finish(table: _core.Table, report: dict, prior: Prior) -> Simulations:
    for kind, failure in report["failures"].items():
        warnings.warn(
            f"{failure['rows']} of {report['requested']} rows are left out ({kind}); the first: {failure['first']}", stacklevel=3
        )
    names = table.names
    split = len(prior.names)
    values = np.column_stack([column[1] for column in table.take_columns()])
    return Simulations(
        np.ascontiguousarray(values[:, :split]), np.ascontiguousarray(values[:, split:]), report, (names[:split], names[split:])
    )


class _Raised(Exception):
    """What a user's function raised, in words, so that it passes between processes."""


def _wants_rng(simulator: Callable) -> bool:
    try:
        return "rng" in inspect.signature(simulator).parameters
    except ValueError:  # Functions of C, such as NumPy's, do not say.
        return False


def _call(simulator: Callable, vectorized: bool, theta: np.ndarray, seed: int, first_row: int) -> Any:
    """One call, in whichever process: outcomes [rows, outcomes], or the text of what went wrong."""
    wants_rng = _wants_rng(simulator)
    try:
        if not vectorized:
            rows = []
            for i, row in enumerate(theta):
                rows.append(simulator(row, **({"rng": np.random.default_rng([seed, first_row + i])} if wants_rng else {})))
            found = np.asarray([np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in rows], dtype=np.float64)
        else:
            found = simulator(theta, **({"rng": np.random.default_rng([seed, first_row])} if wants_rng else {}))
            found = np.asarray(found.detach().cpu() if hasattr(found, "detach") else found, dtype=np.float64)
            if found.ndim == 1 and len(found) == len(theta):
                found = found.reshape(-1, 1)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return found


class _Spread:
    """The simulator as the library calls it, batch by batch. A batch that nobody has simulated is done together with those
    that follow, by as many workers as there are; the library then finds them here."""

    def __init__(self, simulator: Callable, prior: Prior, rows: int, each: int, seed: int, vectorized: bool, n_jobs: int | None):
        self._simulator, self._prior, self._rows, self._each = simulator, prior._prior, rows, each
        self._seed, self._vectorized = seed, vectorized
        self._known: dict[tuple[int, int], Any] = {}
        self._lock = threading.Lock()
        self._parallel, self._workers = _workers(n_jobs)

    @property
    def identity(self) -> str:
        name = getattr(self._simulator, "__qualname__", type(self._simulator).__qualname__)
        return f"python {getattr(self._simulator, '__module__', '')}.{name}"

    def width(self) -> int:
        """How many outcomes there are; the first batch tells, or the first rows of it that do not fail."""
        count = min(self._each, self._rows)
        theta = self._prior.sample(count, self._seed)
        found = self._ask(theta, 0)
        problem = found
        for row in range(min(count, 20)):
            if not isinstance(found, str):
                break
            found = self._ask(theta[row : row + 1], row)
        if isinstance(found, str):
            raise _core.InputError(f"simulator: it failed for the first rows of the prior: {problem}")
        if found.ndim != 2 or found.shape[1] == 0 or (found is problem and len(found) != count):
            hint = "; with vectorized=False it gets one row at a time" if self._vectorized else ""
            raise _core.InputError(f"simulator: expected outcomes [{count}, outcomes], got the shape {found.shape}{hint}")
        if found is problem:
            self._known[0, count] = found
        return found.shape[1]

    def __call__(self, theta: np.ndarray, seed: int, first_row: int) -> np.ndarray:
        with self._lock:
            key = (first_row, len(theta))
            if key not in self._known:
                self._wave(theta, first_row)
            found = self._known.pop(key)
        if isinstance(found, str):
            raise _Raised(found)
        if found.ndim != 2 or len(found) != len(theta):
            raise ValueError(f"simulator: expected outcomes of {len(theta)} rows, got the shape {found.shape}")
        return found

    def _wave(self, theta: np.ndarray, first_row: int) -> None:
        """Simulates this batch, and (unless it is a single row that failed before) the next ones of the other workers."""
        batches = [(first_row, theta)]
        alone = len(theta) < self._each and first_row + len(theta) < self._rows
        for i in range(1, 1 if alone else 2 * self._workers):
            first = first_row + i * self._each
            if first < self._rows:
                count = min(self._each, self._rows - first)
                batches.append((first, self._prior.sample(count, self._seed, 0, first)))
        if self._parallel is None:
            self._known[first_row, len(theta)] = self._ask(theta, first_row)
            return
        from joblib import delayed

        parcels = (Parcel(_call, self._simulator, self._vectorized, rows, self._seed, first) for first, rows in batches)
        calls = (delayed(open_parcel)(parcel) for parcel in parcels)
        for (first, rows), found in zip(batches, self._parallel(calls)):
            self._known[first, len(rows)] = found

    def _ask(self, theta: np.ndarray, first_row: int) -> Any:
        if self._parallel is None:
            return _call(self._simulator, self._vectorized, theta, self._seed, first_row)
        from joblib import delayed

        parcel = Parcel(_call, self._simulator, self._vectorized, theta, self._seed, first_row)
        return self._parallel([delayed(open_parcel)(parcel)])[0]


def _workers(n_jobs: int | None) -> tuple[Any, int]:
    """joblib's Parallel of the active backend, which is known to this thread alone, and how many it runs at a time."""
    if n_jobs in (None, 1):
        import sys

        parallel = sys.modules.get("joblib.parallel")
        if parallel is None or n_jobs == 1 or parallel.get_active_backend()[1] == 1:
            return None, 1
    from joblib import Parallel, effective_n_jobs

    return Parallel(n_jobs=n_jobs), effective_n_jobs(n_jobs)
