"""The density of a table, as a scikit-learn estimator."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Callable

import numpy as np

from . import _core
from .estimator import Estimator, chosen_settings, not_fitted, seed_of, threads_of
from .files import Scratch, from_bytes, to_bytes
from .frames import Layout, as_frame, number_text
from .progress import Progress
from .view import View

_ATTACHMENT = "python"


class Density(Estimator):
    """Fits a probability density to the rows of a table.

    Parameters
    ----------
    method : "auto", "dual", "mle", ...: how it is trained; "auto" is what the program does.
    proxy : "auto", "flow", "energy", ...: the proxy model of the dual method.
    preset : a collection of settings by name, for example "thorough".
    condition : columns that the density is conditional on.
    categorical, integer, ignore : columns that hold categories, whole numbers, nothing of interest.
    bounds : {"age": (0, 120), "price": (0, None)}.
    settings : {"iterations": 20_000, ...}; `jeffreys fit --settings` lists them all.
    members : "auto", or how many fits are made into one density.
    random_state : a seed (default 0), a NumPy generator, or None for another result each time.
    n_jobs : threads; None for all cores. No result depends on it.
    verbose : "auto" shows progress in a terminal or notebook, True always, False never.
    callback : a function that is told the progress of a fit, as a dict, ten times a second.
    checkpoint : a file that an interrupted fit leaves, for `fit(X, resume=True)`.

    Columns of arrays are called x1, x2, ...

    Examples
    --------
    >>> import numpy as np, jeffreys as jf
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> d = jf.Density(settings={"iterations": 100}).fit(rows)
    >>> bool(d.score(rows) > -4)
    True
    >>> d.n_features_in_
    2
    """

    _estimator_type = "DensityEstimator"

    def __init__(
        self,
        method: str = "auto",
        proxy: str = "auto",
        preset: str | None = None,
        condition: Any = None,
        categorical: Any = None,
        integer: Any = None,
        ignore: Any = None,
        bounds: dict | None = None,
        settings: dict[str, Any] | None = None,
        members: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = "auto",
        callback: Callable[[dict], Any] | None = None,
        checkpoint: str | os.PathLike | None = None,
    ):
        self.method = method
        self.proxy = proxy
        self.preset = preset
        self.condition = condition
        self.categorical = categorical
        self.integer = integer
        self.ignore = ignore
        self.bounds = bounds
        self.settings = settings
        self.members = members
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    # Fitting

    def fit(self, X: Any, y: Any = None, *, resume: bool = False) -> Density:
        """Fits the density to a frame or an array; y is ignored.

        Ctrl-C stops it and keeps a checkpoint: fit(X, resume=True) goes on, as if nothing had happened.
        """
        layout, X = Layout.of(X)
        if len(X) == 1:
            raise _core.InputError("X: a density cannot be fitted to n_samples=1; at least 10 rows are needed")
        columns = self._columns(layout)
        table = layout.table(X, columns["categorical"])
        settings = chosen_settings(self, ("method", "proxy", "members"))
        self._scratch = getattr(self, "_scratch", None) or Scratch()
        checkpoint = self._scratch.checkpoint(self.checkpoint)
        with Progress(self.verbose, self.callback) as progress:
            try:
                density, result = _core.fit_table(
                    table, columns, settings, self.preset or "", "Python", threads_of(self.n_jobs),
                    checkpoint, resume, progress.tell,
                )  # fmt: skip
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"the fit was interrupted; {checkpoint} is saved: fit(X, resume=True) goes on from there"
                ) from None
        self._take(density.with_attachment(_ATTACHMENT, layout.to_json()), layout, json.loads(result))
        if self.report_["stop_reason"] == "diverged":
            warnings.warn(f"the fit diverged: {self.report_['verdict']}", RuntimeWarning, stacklevel=2)
        return self

    def _columns(self, layout: Layout) -> dict:
        def names(given: Any, parameter: str) -> list[str]:
            if given is None:
                return []
            if isinstance(given, str):
                raise TypeError(f"{parameter}: expected a list of columns, got the text {given!r}")
            return [self._name(layout, column, parameter) for column in given]

        columns = {key: names(getattr(self, key), key) for key in ("condition", "categorical", "integer", "ignore")}
        columns["categorical"] += [
            name
            for name in layout.categorical
            if not any(name in columns[key] for key in ("categorical", "integer", "ignore"))
        ]
        columns["bounds"] = {
            self._name(layout, column, "bounds"): _ends(column, ends) for column, ends in (self.bounds or {}).items()
        }
        return columns

    @staticmethod
    def _name(layout: Layout, column: Any, parameter: str) -> str:
        """The name of a column that is given by its name, or (of an array) by its place."""
        names = layout.names
        if isinstance(column, int) and layout.columns is None and -len(names) <= column < len(names):
            return names[column]
        if str(column) not in names:
            raise _core.InputError(f"{parameter}: X has no column {column!r}; it has {', '.join(names[:20])}")
        return str(column)

    def _take(self, density: _core.Density, layout: Layout, report: dict) -> None:
        self._density = density
        self._layout = layout
        self.report_ = report
        self.notes_ = density.notes
        self.warnings_ = report.get("warnings", [])
        self.n_iter_ = report.get("iterations", 0)
        self.n_features_in_ = layout.width
        if layout.has_names:
            self.feature_names_in_ = np.array(layout.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # Asking

    def _fitted(self) -> _core.Density:
        try:
            return self._density
        except AttributeError:
            raise not_fitted(type(self).__name__) from None

    def _table(self, X: Any) -> _core.Table:
        density = self._fitted()
        return self._layout.table(self._layout.check(X, type(self).__name__), density.text_columns)

    def score_samples(self, X: Any, *, model: str | None = None) -> np.ndarray:
        """The log density of each row, in nats and in the table's units: low is unusual.

        NaN for a row with a missing value, -inf for one beyond the bounds. model: "main" or "proxy"; None for the one
        that validation chose.
        """
        table = self._table(X)
        return self._density.log_prob(table, model, threads_of(self.n_jobs, table.rows))

    def score(self, X: Any, y: Any = None, *, model: str | None = None) -> float:
        """The mean log density of the rows that have one: higher is better."""
        scores = self.score_samples(X, model=model)
        return float(np.mean(scores[~np.isnan(scores)]))

    def percentile(self, X: Any, *, model: str | None = None) -> np.ndarray:
        """For each row the share of rows like those of the fit that are as unusual: a conformal p-value.

        It is exact if rows were kept for it: settings={"calibration.fraction": 0.1}.
        """
        table = self._table(X)
        return self._density.p_values(table, model, threads_of(self.n_jobs, table.rows))

    def explain(self, X: Any, *, model: str | None = None) -> Any:
        """How surprising each value is given the others of its row, in nats more than expected: [rows, columns]."""
        table = self._table(X)
        names, nats = self._density.explain(table, model, threads_of(self.n_jobs, table.rows))
        if self._layout.columns is None:
            return nats
        import pandas

        return pandas.DataFrame(nats, columns=names, index=getattr(X, "index", None))

    def describe_rows(self, X: Any, *, model: str | None = None) -> Any:
        """All that is to say about rows, as a frame: log_prob, its error, p_value, and a note where a row is unusual."""
        import pandas

        table = self._table(X)
        found = self._density.describe_rows(table, model, threads_of(self.n_jobs, table.rows))
        notes = found.pop("note")
        frame = pandas.DataFrame(found, index=getattr(X, "index", None))
        frame["note"] = [notes.get(row, "") for row in range(len(frame))]
        return frame

    def evaluate(self, X: Any) -> dict:
        """The mean negative log density of new rows for both models, with standard errors, and how the two agree."""
        table = self._table(X)
        return self._density.evaluate(table, threads_of(self.n_jobs, table.rows))

    def sample(
        self, n_samples: int = 1, random_state: Any = 0, *, given: Any = None, model: str | None = None
    ) -> Any:
        """New rows, in the form of the table that was fitted; the same random_state gives the same rows.

        given: {"site": "north"} for a density with conditions, or a frame of them, with n_samples rows for each of its.
        """
        density = self._fitted()
        if isinstance(n_samples, bool) or not hasattr(n_samples, "__index__") or n_samples < 1:
            raise ValueError(f"n_samples: expected a whole number from 1 on, got {n_samples!r}")
        threads = threads_of(self.n_jobs, n_samples)
        table, rate = density.sample(n_samples, seed_of(random_state), self._given(given), model, threads)
        if rate < 0.2:
            warnings.warn(f"only {rate:.0%} of the moves of the Markov chain were accepted: do not trust these rows", stacklevel=2)
        return self._layout.give(table)

    def _given(self, given: Any) -> Any:
        if given is None:
            return None
        if not hasattr(given, "items") or hasattr(given, "dtypes"):
            return self._condition_table(given)
        by_name = {str(c.name): c for c in self._layout.columns or []}
        texts = {}
        for name, value in given.items():
            column = by_name.get(str(name))
            if column is not None and column.form == "time":
                texts[str(name)] = number_text(np.datetime64(value, "ns").astype(np.int64) / 1e9)
            else:
                texts[str(name)] = number_text(value) if isinstance(value, (float, np.floating)) else str(value)
        return texts

    def _condition_table(self, given: Any) -> _core.Table:
        frame = as_frame(given)
        if frame is None:
            raise TypeError(f"given: expected a dict or a frame of condition columns, got {type(given).__name__}")
        wanted = [c for c in self._layout.columns or [] if str(c.name) in self._density.condition_names]
        for column in wanted:
            if column.name not in frame.columns:
                raise _core.InputError(f"given: there is no column {column.name!r}, which the density is conditional on")
        texts = self._density.text_columns
        return _core.Table([c.read(frame[c.name], str(c.name) in texts) for c in wanted], "given")

    # Both models

    @property
    def main_(self) -> View:
        """The main model."""
        return View(self, "main")

    @property
    def proxy_(self) -> View | None:
        """The proxy model; None where none was trained."""
        return View(self, "proxy") if self._fitted().has_proxy else None

    # Files, copies and pictures

    def save(self, path: str | os.PathLike) -> None:
        """Writes a model file; the program reads it too."""
        self._fitted().save(os.fspath(path))

    def __getstate__(self) -> dict:
        state = {key: value for key, value in vars(self).items() if key not in ("_density", "_layout")}
        if hasattr(self, "_density"):
            state["_file"] = to_bytes(self._density.save)
        return state

    def __setstate__(self, state: dict) -> None:
        vars(self).update({key: value for key, value in state.items() if key != "_file"})
        if "_file" in state:
            self._density = from_bytes(_core.Density.load, state["_file"])
            self._layout = _layout_of(self._density)

    def course(self) -> dict:
        """The numbers of training, step by step: {"steps": {...}, "evaluations": {...}}."""
        return self._fitted().course()

    def plot(self, X: Any = None, **options: Any) -> Any:
        """A matplotlib Figure: a density map of two columns, else a pair plot of data and samples."""
        from . import plots

        self._fitted()
        return plots.draw_density(self, X, **options)

    def plot_training(self) -> Any:
        """A matplotlib Figure of the course of training."""
        from . import plots

        return plots.draw_training(self.course(), self.report_)

    def _repr_html_(self) -> str:
        from . import html

        return html.of_density(self)

    def _more_tags(self) -> dict:
        return {"allow_nan": True, "requires_y": False, "X_types": ["2darray"]}

    def __sklearn_tags__(self) -> Any:
        """The same for scikit-learn from 1.6 on."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type="density_estimator",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
        )


def _ends(column: Any, ends: Any) -> tuple[float, float]:
    try:
        lower, upper = ends
        return (-np.inf if lower is None else float(lower), np.inf if upper is None else float(upper))
    except (TypeError, ValueError):
        raise _core.InputError(f"bounds: expected (lower, upper) for {column!r}, either may be None, got {ends!r}") from None


def _layout_of(density: _core.Density) -> Layout:
    text = density.attachments.get(_ATTACHMENT)
    return Layout.from_json(text) if text else Layout.of_model(density)


def load(path: str | os.PathLike) -> Any:
    """A model file of this package or of the program: a Density, or a Posterior."""
    density = _core.Density.load(os.fspath(path))
    if "posterior" in density.attachments:
        from .posterior import Posterior

        return Posterior.load(path)
    record = json.loads(density.record) if density.record else {}
    loaded = Density()
    loaded._take(density, _layout_of(density), record.get("result", {}))
    return loaded
