"""Diagnostics of posteriors and samples, whoever made them.

Samples of posteriors are (simulations, samples, parameters) here; sbi's (samples, simulations, parameters) are
`samples.transpose(1, 0, 2)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .arrays import rows_of
from .estimator import seed_of


def sbc_ranks(theta: Any, samples: Any, *, log_prob: Any = None, sample_log_prob: Any = None, seed: Any = 0) -> dict:
    """The ranks of true parameters (simulations, parameters) among samples of their posteriors.

    A dict: "parameter" has the ranks for simulation-based calibration, "distance" those of TARP and, if both log densities are
    given, "density" those of highest-density regions. sbc(), tarp() and coverage() take it.

    >>> import numpy as np, jeffreys as jf
    >>> random = np.random.default_rng(0)
    >>> centre = random.normal(size=(300, 1, 2))
    >>> ranks = jf.diagnostics.sbc_ranks(centre[:, 0] + random.normal(size=(300, 2)), centre + random.normal(size=(300, 50, 2)))
    >>> jf.diagnostics.sbc(ranks)["parameters"]["theta1"]["calibration"]
    'no sign of miscalibration'
    """
    cube = np.ascontiguousarray(samples.detach().cpu() if hasattr(samples, "detach") else samples, dtype=np.float64)
    if cube.ndim != 3:
        raise _core.InputError(f"samples: expected (simulations, samples, parameters), got the shape {cube.shape}")
    if (log_prob is None) != (sample_log_prob is None):
        raise _core.InputError("log_prob and sample_log_prob: give both, or neither")
    truth = rows_of(theta, cube.shape[2], "theta")
    known = [None if v is None else np.ascontiguousarray(v, dtype=np.float64) for v in (sample_log_prob, log_prob)]
    ranks = _core.rank(truth, cube, *known, seed_of(seed))
    if log_prob is None:
        ranks["density"] = None
    return ranks


def sbc(ranks: dict, names: Any = None, *, significance: float = 0.01) -> dict:
    """Simulation-based calibration of each parameter: p-values, a verdict, and the bars of the histograms."""
    count = ranks["parameter"].shape[1]
    return _core.rank_calibration(_whole(ranks), list(names or [f"theta{i + 1}" for i in range(count)]), significance)


def tarp(ranks: dict, *, significance: float = 0.01) -> dict:
    """Coverage around random reference points (TARP): the curve, its band, p-value and verdict."""
    return _core.reference_point_coverage(_whole(ranks), significance)


def coverage(ranks: dict, *, significance: float = 0.01) -> dict:
    """Expected coverage of highest-density regions; needs ranks with log densities."""
    if ranks["density"] is None:
        raise _core.InputError("coverage: these ranks are without log densities; give log_prob and sample_log_prob to sbc_ranks")
    return _core.highest_density_coverage(ranks, significance)


def c2st(a: Any, b: Any, *, method: str = "network", seed: Any = 0, folds: int = 5) -> dict:
    """Classifier two-sample test: the accuracy with which samples a (exact) and b (a model's) are told apart.

    0.5 means not at all. method: "network" is sbibm's definition, "trees" the paper's, which needs XGBoost.
    """
    first = rows_of(a, None, "a")
    second = rows_of(b, first.shape[1], "b")
    if method == "network":
        return _core.c2st_network(first, second, seed_of(seed), folds)
    if method == "trees":
        return _core.c2st_trees(first, second, seed_of(seed))
    raise ValueError(f"method: expected 'network' or 'trees', got {method!r}")


def _whole(ranks: dict) -> dict:
    return ranks if ranks["density"] is not None else {**ranks, "density": np.zeros(len(ranks["distance"]), dtype=np.int32)}
