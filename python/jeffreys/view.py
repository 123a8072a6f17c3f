"""The two models of a density, each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .density import Density


class View:
    """One of the two models of a density: it speaks where the density would ask the chosen one."""

    def __init__(self, density: Density, model: str):
        self._density = density
        self._model = model

    def score_samples(self, X: Any) -> np.ndarray:
        return self._density.score_samples(X, model=self._model)

    def score(self, X: Any, y: Any = None) -> float:
        return self._density.score(X, model=self._model)

    def percentile(self, X: Any) -> np.ndarray:
        return self._density.percentile(X, model=self._model)

    def explain(self, X: Any) -> Any:
        return self._density.explain(X, model=self._model)

    def sample(self, n_samples: int = 1, random_state: Any = 0, *, given: Any = None) -> Any:
        return self._density.sample(n_samples, random_state, given=given, model=self._model)

    def __repr__(self) -> str:
        return f"<the {self._model} model of {self._density!r}>"
