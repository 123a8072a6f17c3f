"""Posteriors, for any observation at once, and whether they can be trusted."""

from __future__ import annotations

import json
import math
import os
import warnings
from typing import Any, Callable

import numpy as np

from . import _core
from .arrays import like, names_of, rows_of
from .estimator import seed_of, threads_of
from .files import from_bytes, to_bytes
from .prior import Prior
from .progress import Progress


class Posterior:
    """p(parameters | outcomes). Made by NPE, or read from a file by jeffreys.load.

    Every method takes the observation as x: a list, an array, a row of a frame, a dict {"outcome": number} or a tensor. A
    default can be set once with set_default_x. Answers are arrays, or tensors if x is one. An observation beyond the
    training pairs is refused, unless extrapolate=True.
    """

    def __init__(self, posterior: _core.Posterior, report: dict, n_jobs: int | None = None):
        self._posterior = posterior
        self.report_ = report
        self.n_jobs = n_jobs
        self.default_x: Any = None

    @property
    def parameter_names(self) -> list[str]:
        return self._posterior.parameter_names

    @property
    def outcome_names(self) -> list[str]:
        return self._posterior.outcome_names

    @property
    def prior(self) -> Prior | None:
        prior = self._posterior.prior
        return None if prior is None else Prior._of(prior)

    def set_default_x(self, x: Any) -> Posterior:
        """The observation that is meant where none is given."""
        self._one(x)
        self.default_x = x
        return self

    # Samples and densities

    def sample(
        self, sample_shape: Any = (), x: Any = None, *, seed: Any = 0, model: str | None = None,
        extrapolate: bool = False, sampler: str = "metropolis",
    ) -> Any:  # fmt: skip
        """Parameters (*sample_shape, parameters) given one observation; the same seed gives the same."""
        shape = _shape(sample_shape)
        drawn = self._draw(self._one(x), math.prod(shape), seed, model, extrapolate, sampler)
        return like(drawn.reshape(*shape, -1), self._given(x))

    def sample_batched(
        self, sample_shape: Any, x: Any, *, seed: Any = 0, model: str | None = None, extrapolate: bool = False,
        sampler: str = "metropolis",
    ) -> Any:  # fmt: skip
        """The same for several observations x [observations, outcomes]: (*sample_shape, observations, parameters)."""
        shape = _shape(sample_shape)
        observed = self._read(x)
        drawn = self._draw(observed, math.prod(shape), seed, model, extrapolate, sampler)
        by_observation = drawn.reshape(len(observed), *shape, drawn.shape[1])
        return like(np.moveaxis(by_observation, 0, -2), x)

    def _draw(self, observed: np.ndarray, samples: int, seed: Any, model: Any, extrapolate: bool, sampler: str) -> np.ndarray:
        sampling = _core.PosteriorSampling(model, sampler, seed_of(seed), extrapolate)
        self._warn(observed, extrapolate)
        return self._posterior.sample(observed, samples, sampling, threads_of(self.n_jobs, len(observed) * samples))

    def log_prob(self, theta: Any, x: Any = None, *, model: str | None = None, extrapolate: bool = False) -> Any:
        """The log density of each row of parameters given one observation, or one for each row; -inf outside the prior."""
        observed = self._read(self._given(x))
        parameters = np.asarray(theta.detach().cpu() if hasattr(theta, "detach") else theta, dtype=np.float64)
        if parameters.shape[-1:] != (len(self.parameter_names),) or parameters.size == 0:
            raise _core.InputError(f"theta: expected rows of {len(self.parameter_names)} numbers, got the shape {parameters.shape}")
        rows = parameters.reshape(-1, len(self.parameter_names))
        if len(observed) not in (1, len(rows)):
            raise _core.InputError(f"x: expected one observation, or {len(rows)} as there are rows of theta, got {len(observed)}")
        sampling = _core.PosteriorSampling(model, "metropolis", 0, extrapolate)
        found = self._posterior.log_prob(np.ascontiguousarray(rows), observed, sampling, threads_of(self.n_jobs, len(rows)))
        return like(found.reshape(parameters.shape[:-1]), theta, self._given(x))

    def map(self, x: Any = None, *, num_init_samples: int = 5000, seed: Any = 0, model: str | None = None, extrapolate: bool = False) -> Any:
        """The most probable parameters given one observation."""
        sampling = _core.PosteriorSampling(model, "metropolis", seed_of(seed), extrapolate)
        found, _ = self._posterior.mode(self._one(x), num_init_samples, sampling, threads_of(self.n_jobs))
        return like(found, self._given(x))

    def to_dict(self, samples: Any) -> dict[str, np.ndarray]:
        """Samples by parameter as (chain, draw): what ArviZ takes, `arviz.from_dict(posterior=post.to_dict(s))`.

        samples: (draws, parameters), or (chains, draws, parameters).
        """
        values = np.asarray(samples.detach().cpu() if hasattr(samples, "detach") else samples)
        if values.ndim == 2:
            values = values[np.newaxis]
        if values.ndim != 3 or values.shape[2] != len(self.parameter_names):
            raise _core.InputError(f"samples: expected (draws, {len(self.parameter_names)}), got the shape {values.shape}")
        return {name: values[:, :, i] for i, name in enumerate(self.parameter_names)}

    # Checks

    def check(
        self, theta: Any, x: Any, *, num_posterior_samples: int = 200, seed: Any = 0, model: str | None = None,
        verbose: Any = "auto", callback: Callable[[dict], Any] | None = None,
    ) -> Check:  # fmt: skip
        """Whether it can be trusted: calibration over new pairs, drawn from the prior, that it has not seen."""
        parameters = rows_of(theta, len(self.parameter_names), "theta")
        outcomes = self._read(x)
        if len(parameters) != len(outcomes):
            raise _core.InputError(f"theta has {len(parameters)} rows, but x has {len(outcomes)}")
        table = _core.Table(np.hstack([parameters, outcomes]), [*self.parameter_names, *self.outcome_names], "theta and x")
        sampling = _core.PosteriorSampling(model, "metropolis", seed_of(seed), True)
        with Progress(verbose, callback) as progress:
            return Check(self._posterior.check(table, num_posterior_samples, sampling, threads_of(self.n_jobs), progress.tell))

    def compare(self, exact: Any, x: Any = None, *, seed: Any = 0, model: str | None = None) -> dict:
        """C2ST between exact samples of the posterior of one observation and as many of this one, by the paper's
        definition and by sbibm's: 0.5 means that they cannot be told apart."""
        table = _core.Table(rows_of(exact, len(self.parameter_names), "exact"), self.parameter_names, "exact")
        sampling = _core.PosteriorSampling(model, "metropolis", seed_of(seed), False)
        return self._posterior.check_reference(self._one(x), table, sampling, threads_of(self.n_jobs))

    # Files and pictures

    def save(self, path: str | os.PathLike) -> None:
        """Writes a posterior file; the program reads it too."""
        self._posterior.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike) -> Posterior:
        """A posterior file of this package or of the program."""
        posterior = _core.Posterior.load(os.fspath(path))
        record = json.loads(posterior.record) if posterior.record else {}
        return cls(posterior, record.get("result", {}))

    def __getstate__(self) -> dict:
        state = {key: value for key, value in vars(self).items() if key != "_posterior"}
        return {**state, "_file": to_bytes(self._posterior.save)}

    def __setstate__(self, state: dict) -> None:
        vars(self).update({key: value for key, value in state.items() if key != "_file"})
        self._posterior = from_bytes(_core.Posterior.load, state["_file"])

    def course(self) -> dict:
        """The numbers of training, step by step."""
        return self._posterior.course()

    def plot(self, x: Any = None, truth: Any = None, *, samples: int = 10_000, **options: Any) -> Any:
        """A matplotlib Figure: every parameter against every other, with the regions of 50 and 90 %."""
        from . import check_plots

        drawn = np.asarray(self.sample((samples,), x=x, **options))
        return check_plots.draw_posterior(drawn, self.parameter_names, truth, self.prior)

    def __repr__(self) -> str:
        return f"Posterior({', '.join(self.parameter_names)} | {', '.join(self.outcome_names)})"

    def _repr_html_(self) -> str:
        from . import html

        return html.of_posterior(self)

    # Observations

    def _given(self, x: Any) -> Any:
        if x is not None:
            return x
        if self.default_x is None:
            raise ValueError("x: which observation? Give x=..., or set one for all with set_default_x(x)")
        return self.default_x

    def _read(self, x: Any) -> np.ndarray:
        names = self.outcome_names
        if isinstance(x, dict):
            if set(x) != set(names):
                raise _core.InputError(f"x: expected the outcomes {', '.join(names)}, got {', '.join(map(str, x))}")
            x = [x[name] for name in names]
        given = names_of(x)
        if given is not None and given != names:
            if not set(names) <= set(given):
                raise _core.InputError(f"x: expected the outcomes {', '.join(names)}, got {', '.join(given)}")
            x = x[names]
        return rows_of(x, len(names), "x")

    def _one(self, x: Any) -> np.ndarray:
        observed = self._read(self._given(x))
        if len(observed) != 1:
            raise _core.InputError(f"x: expected one observation, got {len(observed)}; sample_batched takes several")
        return observed

    def _warn(self, observed: np.ndarray, extrapolate: bool) -> None:
        if len(observed) > 1000:
            return
        for row, distance in enumerate(self._posterior.distances(observed)):
            if distance["far"] and (extrapolate or not distance["beyond"]):
                which = "the observation" if len(observed) == 1 else f"observation {row}"
                warnings.warn(
                    f"{which} lies outside the pairs that the posterior was fitted to ({distance['description']}): "
                    "it extrapolates, do not trust it there",
                    stacklevel=4,
                )
                return


def _shape(given: Any) -> tuple[int, ...]:
    """A number of samples, or the shape that they are to have, as a tuple."""
    shape = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not all(hasattr(length, "__index__") and length >= 1 for length in shape):
        raise ValueError(f"sample_shape: expected a whole number from 1 on, or a tuple of them, got {given!r}")
    return tuple(length.__index__() for length in shape)


class Check:
    """What a check found: sbc (ranks of each parameter), coverage (highest-density regions), tarp, and the verdict.

    Each of the three is a dict with its p_value and verdict; p_value is the smallest of them, corrected for their number.
    """

    def __init__(self, found: dict):
        self.ranks: dict = found["ranks"]
        self.sbc: dict = found["sbc"]
        self.coverage: dict = found["coverage"]
        self.tarp: dict = found["tarp"]
        self.p_value: float = found["p_value"]
        self.miscalibrated: bool = found["miscalibrated"]
        self.few_pairs: bool = found["few_pairs"]
        self.beyond_training: int = found["beyond_training"]
        self.information_gain: dict | None = found["information_gain"]
        self.verdict: str = found["verdict"]

    def plot(self) -> Any:
        """A matplotlib Figure of the coverage curves and the histograms of ranks."""
        from . import check_plots

        return check_plots.draw_check(self)

    def __repr__(self) -> str:
        return f"Check({self.verdict}; p = {self.p_value:.3g}, {len(self.ranks['density'])} pairs)"

    def _repr_html_(self) -> str:
        from . import html

        return html.of_check(self)
