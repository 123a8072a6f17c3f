"""Neural posterior estimation with the verbs of sbi."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Callable

import numpy as np

from . import _core
from .arrays import names_of, rows_of
from .estimator import chosen_settings, threads_of
from .files import Scratch
from .posterior import Posterior
from .prior import as_prior
from .progress import Progress
from .spreading import spread_members, workers

SOURCE = "theta and x"


class NPE:
    """A posterior for any observation, from pairs of parameters and outcomes.

    >>> import numpy as np, jeffreys as jf
    >>> prior = jf.Prior(a=jf.Uniform(-1, 1), b=jf.Uniform(0, 1))
    >>> theta, x = jf.simulate(lambda t, rng: t + 0.1 * rng.normal(size=t.shape), prior, 200)
    >>> npe = jf.NPE(prior, members=1, settings={"iterations": 100})
    >>> post = npe.append_simulations(theta, x).train().build_posterior()
    >>> post.sample((5,), x=[0.2, 0.5]).shape
    (5, 2)

    Without a prior it is the posterior under whatever the parameters were drawn from. members: "auto", or how many fits
    correct each other; 1 is quickest. The other arguments are those of Density.
    """

    def __init__(
        self,
        prior: Any = None,
        *,
        method: str = "auto",
        proxy: str = "auto",
        preset: str | None = None,
        settings: dict[str, Any] | None = None,
        members: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = "auto",
        callback: Callable[[dict], Any] | None = None,
        checkpoint: str | os.PathLike | None = None,
    ):
        self.prior = None if prior is None else as_prior(prior)
        self.method, self.proxy, self.preset, self.settings, self.members = method, proxy, preset, settings, members
        self.random_state, self.n_jobs, self.verbose, self.callback = random_state, n_jobs, verbose, callback
        self.checkpoint = checkpoint
        self._scratch = Scratch()
        self._pairs: list[tuple[np.ndarray, np.ndarray]] = []
        self._names: tuple[list[str], list[str]] | None = None
        self._posterior: Posterior | None = None

    def append_simulations(self, theta: Any, x: Any) -> NPE:
        """Adds pairs: theta [rows, parameters], x [rows, outcomes], of NumPy, pandas or torch."""
        width = len(self.prior.names) if self.prior else (self._pairs[0][0].shape[1] if self._pairs else None)
        parameters = _rows(theta, width, "theta")
        outcomes = _rows(x, self._pairs[0][1].shape[1] if self._pairs else None, "x")
        if len(parameters) != len(outcomes):
            raise _core.InputError(f"theta has {len(parameters)} rows, but x has {len(outcomes)}")
        names = self._names_of(theta, parameters, x, outcomes)
        if self._names not in (None, names):
            raise _core.InputError(f"these pairs are called {names}, those before {self._names}")
        self._names = names
        self._pairs.append((parameters, outcomes))
        return self

    def _names_of(self, theta: Any, parameters: np.ndarray, x: Any, outcomes: np.ndarray) -> tuple[list[str], list[str]]:
        given = names_of(theta)
        if self.prior and given is not None and sorted(given) == sorted(self.prior.names) and given != self.prior.names:
            raise _core.InputError(f"theta has the columns {given} in another order than the prior, {self.prior.names}")
        known = self.prior.names if self.prior else given or [f"theta{i + 1}" for i in range(parameters.shape[1])]
        return known, names_of(x) or [f"x{i + 1}" for i in range(outcomes.shape[1])]

    def train(self, *, resume: bool = False) -> NPE:
        """Fits the posterior to all pairs. Ctrl-C keeps a checkpoint, from which train(resume=True) goes on.

        Where `joblib.parallel_backend` is around this call, each member is a task of that backend.
        """
        if not self._pairs:
            raise _core.InputError("there is nothing to train on: call append_simulations(theta, x) first")
        parameters, outcomes = self._names
        values = np.vstack([np.hstack(pair) for pair in self._pairs])
        settings = chosen_settings(self, ("method", "proxy", "members"))
        pairs = _Pairs(values, parameters, outcomes, self.prior, settings, self.preset or "")
        checkpoint = self._scratch.checkpoint(self.checkpoint)
        with Progress(self.verbose, self.callback) as progress:
            try:
                posterior, result, committee = pairs.fit(threads_of(self.n_jobs), checkpoint, resume, progress)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"training was interrupted; {checkpoint} is saved: train(resume=True) goes on") from None
        report = json.loads(result)
        if committee:
            report["committee"] = committee
        self._posterior = Posterior(posterior, report, self.n_jobs)
        if report["stop_reason"] == "diverged":
            warnings.warn(f"training diverged: {report['verdict']}", RuntimeWarning, stacklevel=2)
        return self

    def build_posterior(self) -> Posterior:
        """The posterior that train() fitted."""
        if self._posterior is None:
            raise _core.InputError("there is no posterior yet: call train() first")
        return self._posterior


class _Pairs:
    """Pairs with all that their fit depends on, as it goes to other processes."""

    def __init__(self, values: np.ndarray, parameters: list, outcomes: list, prior: Any, settings: list, preset: str):
        self.values, self.prior = values, prior
        self.parameters, self.outcomes, self.settings, self.preset = parameters, outcomes, settings, preset

    def arguments(self) -> tuple:
        table = _core.Table(self.values, [*self.parameters, *self.outcomes], SOURCE)
        prior = self.prior._prior if self.prior else None
        return table, self.parameters, self.outcomes, prior, self.settings, self.preset

    def fit(self, threads: int, checkpoint: str, resume: bool, progress: Progress) -> tuple:
        arguments = self.arguments()
        if workers() > 0:
            members = _core.posterior_members(*arguments)
            if members > 1:
                _core.check_unfinished(checkpoint, resume)
                spread_members(_fit_member, (self,), members, checkpoint, progress.tell)
                resume = True
        return _core.fit_posterior(*arguments, "Python", threads, checkpoint, resume, progress.tell)


def _fit_member(pairs: _Pairs, folder: str, member: int, threads: int) -> None:
    _core.fit_posterior_member(*pairs.arguments(), folder, member, threads)


def _rows(values: Any, width: int | None, what: str) -> np.ndarray:
    """Pairs have two dimensions, unless there is one parameter or outcome."""
    if np.ndim(values) == 1:
        values = np.asarray(values).reshape(-1, 1)
    return rows_of(values, width, what)
