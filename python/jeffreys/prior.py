"""What is known about a simulator's parameters before its outcomes."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from . import _core
from .estimator import seed_of


class Distribution:
    """Of one parameter; made by Uniform, Normal and LogNormal."""

    def __init__(self, kind: str, mean: float, deviation: float, lower: float, upper: float):
        self.kind, self.mean, self.deviation, self.lower, self.upper = kind, mean, deviation, lower, upper

    def __repr__(self) -> str:
        if self.kind == "uniform":
            return f"Uniform({self.lower:g}, {self.upper:g})"
        name = "Normal" if self.kind == "normal" else "LogNormal"
        ends = [f"{end}={value:g}" for end, value in (("lower", self.lower), ("upper", self.upper)) if math.isfinite(value)]
        return f"{name}({', '.join([f'{self.mean:g}', f'{self.deviation:g}', *ends])})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Distribution) and vars(self) == vars(other)

    __hash__ = None


def Uniform(lower: float, upper: float) -> Distribution:
    """All values between two ends are as likely."""
    return Distribution("uniform", 0.0, 1.0, float(lower), float(upper))


def Normal(mean: float, deviation: float, lower: float = -math.inf, upper: float = math.inf) -> Distribution:
    """A normal distribution, truncated where there are ends."""
    return Distribution("normal", float(mean), float(deviation), float(lower), float(upper))


def LogNormal(mean: float, deviation: float, lower: float = -math.inf, upper: float = math.inf) -> Distribution:
    """The logarithm is normal, with this mean and deviation; truncated where there are ends."""
    return Distribution("log_normal", float(mean), float(deviation), float(lower), float(upper))


class Prior:
    """Independent distributions of named parameters, in the order of the simulator.

    >>> import jeffreys as jf
    >>> prior = jf.Prior(amplitude=jf.Uniform(0, 2), rate=jf.LogNormal(-1, 0.5))
    >>> prior.names
    ['amplitude', 'rate']
    >>> prior.sample((3,), seed=1).shape
    (3, 2)

    Frozen distributions of scipy.stats serve too: uniform, norm, truncnorm and lognorm.
    """

    def __init__(self, distributions: dict[str, Any] | None = None, /, **more: Any):
        every = {**(distributions or {}), **more}
        read = {str(name): _read(name, given) for name, given in every.items()}
        self._prior = _core.Prior([(name, d.kind, d.mean, d.deviation, d.lower, d.upper) for name, d in read.items()])

    @classmethod
    def _of(cls, prior: _core.Prior) -> Prior:
        return cls({name: Distribution(*rest) for name, *rest in prior.parameters})

    @classmethod
    def read(cls, path: str | os.PathLike) -> Prior:
        """A TOML file of the program."""
        return cls._of(_core.Prior.read(os.fspath(path)))

    def to_toml(self) -> str:
        """The text of a file that the program reads."""
        return self._prior.to_toml()

    @property
    def names(self) -> list[str]:
        return self._prior.names

    @property
    def distributions(self) -> dict[str, Distribution]:
        return {name: Distribution(*rest) for name, *rest in self._prior.parameters}

    def sample(self, shape: Any = (), *, seed: Any = 0) -> np.ndarray:
        """Draws of the shape (..., parameters); the same seed gives the same draws."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        rows = math.prod(shape)
        return self._prior.sample(rows, seed_of(seed)).reshape(*shape, len(self.names))

    def log_prob(self, theta: Any) -> np.ndarray:
        """The log density of each row of parameters; -inf outside the support."""
        theta = np.atleast_2d(np.asarray(theta, dtype=np.float64))
        return self._prior.log_prob(theta)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Prior) and self._prior == other._prior

    __hash__ = None

    def __repr__(self) -> str:
        return f"Prior({', '.join(f'{name}={d!r}' for name, d in self.distributions.items())})"

    def __reduce__(self) -> tuple:
        return Prior, (self.distributions,)


def as_prior(prior: Any) -> Prior:
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, dict):
        return Prior(prior)
    raise TypeError(
        f"prior: expected a jeffreys.Prior, for example Prior(a=Uniform(0, 1)), or a dict of distributions, got {type(prior).__name__}"
    )


def _read(name: Any, given: Any) -> Distribution:
    if isinstance(given, Distribution):
        return given
    if isinstance(given, tuple) and len(given) == 2:
        return Uniform(*given)
    frozen = getattr(given, "dist", None)
    if frozen is not None and hasattr(given, "kwds"):
        return _read_scipy(name, frozen, given)
    raise TypeError(
        f"prior: parameter {name!r} is no distribution: expected Uniform, Normal, LogNormal or a frozen distribution of "
        f"scipy.stats, got {given!r}"
    )


def _read_scipy(name: Any, kind: Any, given: Any) -> Distribution:
    shapes, location, scale = kind._parse_args(*given.args, **given.kwds)
    if kind.name == "uniform":
        return Uniform(location, location + scale)
    if kind.name == "norm":
        return Normal(location, scale)
    if kind.name == "truncnorm":
        return Normal(location, scale, location + shapes[0] * scale, location + shapes[1] * scale)
    if kind.name == "lognorm" and location == 0:
        return LogNormal(math.log(scale), shapes[0])
    raise ValueError(
        f"prior: parameter {name!r}: scipy.stats.{kind.name} is not known here{' with a location' if kind.name == 'lognorm' else ''}; "
        "there are uniform, norm, truncnorm and lognorm. Let the simulator transform a parameter that has one of these"
    )
