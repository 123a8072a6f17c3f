"""What scikit-learn expects of an estimator, without importing it."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before fit."""


def not_fitted(name: str) -> Exception:
    """The exception to raise: scikit-learn's own where it is in use."""
    text = f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using it."
    theirs = sys.modules.get("sklearn.exceptions")
    return (theirs.NotFittedError if theirs else NotFittedError)(text)


class Estimator:
    """Parameters are what the constructor takes; it stores them and does nothing else."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any):
        """Changes parameters; the estimator is as it was until it is fitted again."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. Valid parameters are: {known!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)


def seed_of(random_state: Any) -> int:
    """A seed: a number itself, the next draw of a NumPy generator, or (None) one that nobody knows."""
    if random_state is None:
        return int.from_bytes(os.urandom(6), "little")
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(0, 2**31 - 1))
    try:
        seed = random_state.__index__()
    except AttributeError:
        seed = -1
    if not 0 <= seed < 2**63:
        raise ValueError(f"random_state: expected a whole number that is not negative, a generator or None, got {random_state!r}")
    return seed


# Fewer rows are done before a second thread is awake.
ROWS_FOR_THREADS = 128


def threads_of(n_jobs: int | None, rows: int = ROWS_FOR_THREADS) -> int:
    """How many threads to compute with. No result depends on it.

    None means all cores of this process, but as many as OMP_NUM_THREADS where that is set: joblib
    and Dask set it in their workers, so that these together do not take more than there are.
    """
    if n_jobs is not None and (not isinstance(n_jobs, int) or n_jobs == 0):
        raise ValueError(f"n_jobs: expected a whole number other than 0, or None, got {n_jobs!r}")
    if rows < ROWS_FOR_THREADS:
        return 1
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    if n_jobs is None and os.environ.get("OMP_NUM_THREADS", "").isdigit():
        return max(1, int(os.environ["OMP_NUM_THREADS"]))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if n_jobs is None else max(1, cores + 1 + n_jobs)


def setting_text(value: Any) -> str:
    """A setting's value as the program would read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return ",".join(setting_text(item) for item in value)
    if isinstance(value, float):
        return repr(value)
    return str(value)


def chosen_settings(owner: Any, arguments: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """The settings of a fit as (key, value, what messages call it): its owner's `settings`, arguments that are settings too
    and not "auto", and the seed."""
    if owner.settings is not None and not hasattr(owner.settings, "items"):
        raise TypeError(f"settings: expected a dict such as {{'iterations': 20_000}}, got {type(owner.settings).__name__}")
    chosen = [(key, setting_text(value), "settings") for key, value in (owner.settings or {}).items()]
    for key in arguments:
        if getattr(owner, key) not in ("auto", None):
            chosen.append((key, setting_text(getattr(owner, key)), key))
    if not any(key == "seed" for key, *_ in chosen):
        chosen.append(("seed", str(seed_of(owner.random_state)), "random_state"))
    return chosen
