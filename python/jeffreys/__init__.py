"""Jeffreys: probability densities of small tables, and posteriors of simulators.

>>> import numpy as np, jeffreys as jf
>>> rows = np.random.default_rng(0).normal(size=(200, 2))
>>> density = jf.Density(settings={"iterations": 100}).fit(rows)
>>> density.score_samples(rows[:3]).shape
(3,)
>>> density.sample(5).shape
(5, 2)

What is not needed is not imported: neither pandas nor matplotlib, scikit-learn nor torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import InputError, version as __version__
from .density import Density, load
from .estimator import NotFittedError

if TYPE_CHECKING:
    from . import diagnostics as diagnostics
    from .comparison import Comparison as Comparison, compare as compare
    from .npe import NPE as NPE
    from .posterior import Check as Check, Posterior as Posterior
    from .prior import LogNormal as LogNormal, Normal as Normal, Prior as Prior, Uniform as Uniform
    from .simulation import simulate as simulate
    from .models import EnergyModel as EnergyModel, SplineFlow as SplineFlow, Trainer as Trainer

# Names that are loaded when they are first used, and where they live.
_LATER = {
    "compare": "comparison",
    "Comparison": "comparison",
    "NPE": "npe",
    "Posterior": "posterior",
    "Check": "posterior",
    "Prior": "prior",
    "Uniform": "prior",
    "Normal": "prior",
    "LogNormal": "prior",
    "simulate": "simulation",
    "SplineFlow": "models",
    "EnergyModel": "models",
    "Trainer": "models",
    "diagnostics": None,
}

__all__ = ["Density", "InputError", "NotFittedError", "load", *_LATER]


def __getattr__(name: str):
    if name not in _LATER:
        raise AttributeError(f"module 'jeffreys' has no attribute '{name}'")
    from importlib import import_module

    module = import_module(f".{_LATER[name] or name}", __name__)
    value = getattr(module, name) if _LATER[name] else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
