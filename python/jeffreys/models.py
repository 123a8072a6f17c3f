"""Models by themselves, for researchers: flows, energy models, and the dual method step by step.

They see numbers as they are: a flow acts on [-5, 5], so standardise. C-contiguous arrays of the model's dtype are not copied.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any, Callable

import numpy as np

from . import _core
from .estimator import seed_of, setting_text
from .files import from_bytes, to_bytes
from .progress import Progress

_KINDS = {"float32": (_core.Model32, _core.Trainer32), "float64": (_core.Model64, _core.Trainer64)}


class Model:
    """What flows and energy models have in common."""

    def __init__(self, model: Any):
        self._model = model

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if isinstance(self._model, _core.Model32) else np.float64)

    @property
    def features(self) -> int:
        return self._model.features

    @property
    def context_features(self) -> int:
        return self._model.context_features

    @property
    def parameters(self) -> np.ndarray:
        """All of them as one flat array: a copy. Assign an array to change the model."""
        return self._model.parameters

    @parameters.setter
    def parameters(self, values: Any) -> None:
        self._model.parameters = np.ascontiguousarray(values, dtype=self.dtype)

    @property
    def layout(self) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Where each block is in the flat array, and its shape."""
        return {name: (slice(offset, offset + size), tuple(shape)) for name, shape, offset, size in self._model.layout}

    def use_threads(self, threads: int) -> Model:
        """For all that follows; no result depends on it."""
        self._model.use_threads(threads)
        return self

    def add_scores(self, x: Any, weights: Any, gradient: np.ndarray | None = None, *, context: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """One trip: the log densities of x, and gradient + sum_i weights_i grad log p(x_i), which every objective needs.

        A gradient that is given, of the model's dtype, is added to in place.
        """
        if gradient is None:
            gradient = np.zeros(len(self.parameters), dtype=self.dtype)
        elif not isinstance(gradient, np.ndarray) or gradient.dtype != self.dtype or not gradient.flags.c_contiguous:
            raise ValueError(f"gradient: expected a contiguous array of {self.dtype}")
        return self._model.add_scores(self._rows(x, "x"), self._numbers(weights), self._context(context), gradient)

    def input_gradient(self, x: Any, *, context: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The log densities of x, and their gradients with respect to x and to the context."""
        return self._model.input_gradient(self._rows(x, "x"), self._context(context))

    def save(self, path: str | os.PathLike) -> None:
        """A model file, in the safetensors layout."""
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike, *, dtype: Any = np.float32) -> Any:
        """Reads a model file; of the same kind as the class, if that is a flow or an energy model."""
        model = _kind(dtype)[0].load(os.fspath(path))
        is_flow = json.loads(model.architecture)["model"] == "spline_flow"
        found = (SplineFlow if is_flow else EnergyModel)._of(model)
        if not isinstance(found, cls):
            raise _core.InputError(f"{os.fspath(path)}: holds {model.description}, which is no {cls.__name__}")
        return found

    @classmethod
    def _of(cls, model: Any) -> Any:
        made = cls.__new__(cls)
        Model.__init__(made, model)
        return made

    def copy(self) -> Any:
        return self._of(self._model.clone())

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict) -> Any:
        return self.copy()

    def __reduce__(self) -> tuple:
        return _from_bytes, (to_bytes(self._model.save), self.dtype.name)

    def __repr__(self) -> str:
        return f"<{self._model.description}>"

    def _rows(self, values: Any, what: str) -> np.ndarray:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
        rows = np.ascontiguousarray(values, dtype=self.dtype)
        wanted = self.features if what == "x" else self.context_features
        if rows.ndim != 2 or rows.shape[1] != wanted:
            raise _core.InputError(f"{what}: expected rows of {wanted} numbers, got the shape {rows.shape}")
        return rows

    def _context(self, context: Any) -> np.ndarray | None:
        if context is None:
            return None
        return self._rows(np.atleast_2d(context.detach().cpu() if hasattr(context, "detach") else context), "context")

    def _numbers(self, values: Any) -> np.ndarray:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
        return np.ascontiguousarray(values, dtype=self.dtype)


class SplineFlow(Model):
    """A neural spline flow, equal to zuko.flows.NSF to rounding.

    >>> import jeffreys as jf
    >>> flow = jf.SplineFlow(features=3, transforms=4)
    >>> x, log_prob = flow.sample_with_log_prob(100, seed=1)
    >>> bool(abs(flow.log_prob(x) - log_prob).max() < 1e-3)
    True
    """

    def __init__(
        self, features: int, context_features: int = 0, *, transforms: int = 3, bins: int = 8, hidden: Any = (64, 64),
        affine: bool = False, student_t: float = 0.0, seed: Any = 0, dtype: Any = np.float32,
    ):  # fmt: skip
        super().__init__(
            _kind(dtype)[0].flow(features, context_features, transforms, bins, list(hidden), affine, student_t, seed_of(seed))
        )

    def log_prob(self, x: Any, *, context: Any = None) -> np.ndarray:
        """The log density of each row; NaN for one that is not finite."""
        return self._model.log_prob(self._rows(x, "x"), self._context(context))

    def sample(self, rows: int, *, seed: Any = 0, context: Any = None) -> np.ndarray:
        """Rows of the flow; the same seed gives the same."""
        return self.sample_with_log_prob(rows, seed=seed, context=context)[0]

    def sample_with_log_prob(self, rows: int, *, seed: Any = 0, context: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows, and their log density, which comes for free."""
        if rows < 1:
            raise ValueError(f"rows: expected at least 1, got {rows}")
        return self._model.sample(rows, seed_of(seed), self._context(context))

    def to_noise(self, x: Any, *, context: Any = None) -> np.ndarray:
        """What the transforms make of x: numbers of the base distribution."""
        return self._model.to_noise(self._rows(x, "x"), self._context(context))

    @classmethod
    def from_zuko(cls, state_dict: Any, *, dtype: Any = np.float32) -> SplineFlow:
        """The flow of `zuko.flows.NSF(...).state_dict()`, or of the flow itself."""
        if hasattr(state_dict, "state_dict"):
            state_dict = state_dict.state_dict()
        if not hasattr(state_dict, "items"):
            raise TypeError(f"state_dict: expected that of a zuko.flows.NSF, or the flow, got {type(state_dict).__name__}")
        arrays = {f"param.{key}": np.asarray(v.detach().cpu() if hasattr(v, "detach") else v) for key, v in state_dict.items()}
        with tempfile.TemporaryDirectory(prefix="jeffreys-") as folder:
            path = os.path.join(folder, "state_dict.npz")
            np.savez(path, **arrays)
            try:
                return cls._of(_kind(dtype)[0].from_zuko(path))
            except _core.InputError as problem:
                raise _core.InputError(str(problem).replace(path, "state_dict")) from None

    def to_zuko(self) -> dict[str, Any]:
        """A state dict for `zuko.flows.NSF`: tensors where torch is imported, else arrays."""
        with tempfile.TemporaryDirectory(prefix="jeffreys-") as folder:
            path = os.path.join(folder, "state_dict.npz")
            self._model.to_zuko(path)
            with np.load(path) as archive:
                arrays = {key.removeprefix("param."): archive[key] for key in archive.files}
        torch = sys.modules.get("torch")
        return arrays if torch is None else {key: torch.from_numpy(value) for key, value in arrays.items()}


class EnergyModel(Model):
    """The paper's unnormalised model: a residual network, conditional if it has a context."""

    def __init__(
        self, features: int, context_features: int = 0, *, hidden: int = 128, blocks: int = 2, confined: bool = True,
        temperature: float = 1.0, seed: Any = 0, dtype: Any = np.float32,
    ):  # fmt: skip
        super().__init__(
            _kind(dtype)[0].energy(features, context_features, hidden, blocks, confined, temperature, seed_of(seed))
        )

    def log_unnormalized(self, x: Any, *, context: Any = None) -> np.ndarray:
        """The log density of each row up to a constant."""
        return self._model.log_prob(self._rows(x, "x"), self._context(context))


class Trainer:
    """Trains a main model, and for the dual method a proxy beside it, in place.

    data: rows x, or (x, context); so is validation. settings are those of a fit: "method", "learning_rate.main", ...

    >>> import numpy as np, jeffreys as jf
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> main, proxy = jf.SplineFlow(2, seed=0), jf.SplineFlow(2, seed=1)
    >>> trainer = jf.Trainer(main, proxy, x, settings={"learning_rate.main": 1e-3})
    >>> record = trainer.step()
    >>> sorted(set(record) & {"nll", "reverse_kl", "proxy_nll", "balance"})
    ['balance', 'nll', 'proxy_nll', 'reverse_kl']
    """

    def __init__(
        self, main: SplineFlow, proxy: Model | None, data: Any, *, validation: Any = None, settings: dict[str, Any] | None = None,
        seed: Any = 0,
    ):  # fmt: skip
        for name, model in (("main", main), ("proxy", proxy)):
            if not isinstance(model, Model) and not (name == "proxy" and model is None):
                raise TypeError(f"{name}: expected a SplineFlow or an EnergyModel, got {type(model).__name__}")
        if proxy is not None and proxy.dtype != main.dtype:
            raise TypeError(f"proxy: expected the dtype of main, {main.dtype}, got {proxy.dtype}")
        self.main, self.proxy = main, proxy
        chosen = {"method": "mle" if proxy is None else "dual", **(settings or {})}
        self._trainer = _kind(main.dtype)[1](
            main._model, proxy._model if proxy is not None else None, *self._split(data), *self._split(validation),
            [(key, setting_text(value)) for key, value in chosen.items()], seed_of(seed),
        )  # fmt: skip

    def _split(self, data: Any) -> tuple[np.ndarray, np.ndarray]:
        none = np.zeros((0, 0), dtype=self.main.dtype)
        if data is None:
            return none, none
        x, context = data if isinstance(data, tuple) else (data, None)
        rows = self.main._rows(x, "x")
        return rows, np.zeros((len(rows), 0), dtype=self.main.dtype) if context is None else self.main._rows(context, "context")

    def step(self) -> dict[str, float]:
        """One iteration; what it measured before it changed the models."""
        return self._trainer.step()

    def run(self, *, verbose: Any = "auto", callback: Callable[[dict], Any] | None = None) -> dict:
        """Iterates until there is a reason to stop; the models then take the state that validation chose."""
        with Progress(verbose, callback) as progress:
            return self._trainer.run(progress.tell)

    @property
    def iteration(self) -> int:
        return self._trainer.iteration

    @property
    def multipliers(self) -> dict[str, float]:
        """By constraint."""
        return self._trainer.multipliers

    def save(self, path: str | os.PathLike) -> None:
        """The whole state, from which resume() goes on bit for bit."""
        self._trainer.save(os.fspath(path))

    def resume(self, path: str | os.PathLike) -> Trainer:
        self._trainer.resume(os.fspath(path))
        return self


def _kind(dtype: Any) -> tuple:
    name = np.dtype(dtype).name
    if name not in _KINDS:
        raise TypeError(f"dtype: expected float32 or float64, got {name}")
    return _KINDS[name]


def _from_bytes(file: bytes, dtype: str) -> Model:
    return from_bytes(lambda path: Model.load(path, dtype=dtype), file)
