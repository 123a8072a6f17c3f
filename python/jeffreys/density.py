"""The density of a table, as a scikit-learn estimator."""

from __future__ import annotations

import errno
import json
import os
import warnings
from typing import Any, Callable

import numpy as np

from . import _core
from .answers import Answers, read_weights
from .columns import LISTS, read_columns
from .estimator import Estimator, chosen_settings, threads_of
from .files import Scratch, from_bytes, to_bytes
from .frames import Layout
from .progress import Progress
from .spreading import spread_members, workers

_ATTACHMENT = "python"


class Density(Answers, Estimator):
    """Fits a probability density to the rows of a table.

    Parameters
    ----------
    method : "auto", "dual", "mle", ...: how it is trained; "auto" is what the program does.
    proxy : "auto", "flow", "energy", ...: the proxy model of the dual method.
    preset : a collection of settings by name, for example "thorough".
    condition : columns that the density is conditional on.
    categorical, integer, ignore : columns that hold categories, whole numbers, nothing of interest.
    bounds : {"age": (0, 120), "price": (0, None)}.
    missing : "keep" lets rows with missing cells count with the cells that they have; "drop" leaves them out; "error".
    settings : {"iterations": 20_000, ...}; `jeffreys fit --settings` lists them all.
    members : "auto", or how many fits are made into one density.
    random_state : a seed (default 0), a NumPy generator, or None for another result each time.
    n_jobs : threads; None for all cores. No result depends on it.
    verbose : "auto" shows progress in a terminal or notebook, True always, False never.
    callback : a function that is told the progress of a fit, as a dict, ten times a second.
    checkpoint : a file that an interrupted fit leaves, for `fit(X, resume=True)`.

    Columns of arrays are called x1, x2, ...

    Attributes
    ----------
    report_, notes_, warnings_ : all that is known about the fit, what was found in the columns, what to be careful about.
    settings_ : every setting with the value, as a text, that the fit had.
    main_, proxy_ : both models, each by itself.
    held_out_ : rows of X, by number, that a single fit held out to decide when to stop; none of several fits, each of which
        holds out others. n_iter_, n_features_in_, feature_names_in_ : as of any estimator.

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
        missing: str = "keep",
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
        self.missing = missing
        self.settings = settings
        self.members = members
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, resume: bool = False) -> Density:
        """Fits the density to a frame or an array; y is ignored. sample_weight: how much each row counts.

        Ctrl-C stops it and keeps a checkpoint: fit(X, resume=True) goes on, as if nothing had happened. Where the density is
        made of several fits and `joblib.parallel_backend` is around this call, each of them is a task of that backend.
        """
        layout, X = Layout.of(X)
        if len(X) == 1:
            raise _core.InputError("X: a density cannot be fitted to n_samples=1; at least 10 rows are needed")
        columns = read_columns(layout, {key: getattr(self, key) for key in (*LISTS, "bounds")})
        weights = None if sample_weight is None else read_weights(sample_weight, len(X))
        if weights is not None and (weights == weights[0]).all():
            weights = None  # as if there were none
        if weights is not None:
            columns["weights"] = layout.weights_name
        settings = chosen_settings(self, ("method", "proxy", "members", *(["missing"] if self.missing != "keep" else [])))
        data = _Data(layout, X, weights, columns, settings, self.preset or "")
        self._scratch = getattr(self, "_scratch", None) or Scratch()
        checkpoint = self._scratch.checkpoint(self.checkpoint)
        with Progress(self.verbose, self.callback) as progress:
            try:
                density, result, held_out = data.fit(threads_of(self.n_jobs), checkpoint, resume, progress)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"the fit was interrupted; {checkpoint} is saved: fit(X, resume=True) goes on from there"
                ) from None
        self._take(density.with_attachment(_ATTACHMENT, layout.to_json()), layout, json.loads(result))
        self.held_out_ = held_out
        if self.report_["stop_reason"] == "diverged":
            warnings.warn(f"the fit diverged: {self.report_['verdict']}", RuntimeWarning, stacklevel=2)
        return self

    def _take(self, density: _core.Density, layout: Layout, report: dict) -> None:
        self._density = density
        self._layout = layout
        self.report_ = report
        record = json.loads(density.record) if density.record else {}
        self.settings_ = {key: setting["value"] for key, setting in record.get("settings", {}).items()}
        self.notes_ = density.notes
        self.warnings_ = report.get("warnings", [])
        self.n_iter_ = report.get("iterations", 0)
        self.n_features_in_ = layout.width
        if layout.has_names:
            self.feature_names_in_ = np.array(layout.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

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


class _Data:
    """A table with all that its fit depends on, as it goes to other processes."""

    def __init__(self, layout: Layout, X: Any, weights: Any, columns: dict, settings: list, preset: str):
        self.layout, self.X, self.weights = layout, X, weights
        self.chosen = columns, settings, preset

    def table(self) -> _core.Table:
        return self.layout.table(self.X, self.chosen[0]["categorical"], self.weights)

    def fit(self, threads: int, checkpoint: str, resume: bool, progress: Progress) -> tuple[_core.Density, str, np.ndarray]:
        table = self.table()
        if workers() > 0:
            members = _core.table_members(table, *self.chosen)
            if members > 1:
                _core.check_unfinished(checkpoint, resume)
                spread_members(_fit_member, (self,), members, checkpoint, progress.tell)
                resume = True
        return _core.fit_table(table, *self.chosen, "Python", threads, checkpoint, resume, progress.tell)


def _fit_member(data: _Data, folder: str, member: int, threads: int) -> None:
    _core.fit_member(data.table(), *data.chosen, folder, member, threads)


def _layout_of(density: _core.Density) -> Layout:
    text = density.attachments.get(_ATTACHMENT)
    return Layout.from_json(text) if text else Layout.of_model(density)


def load(path: str | os.PathLike) -> Any:
    """A model file of this package or of the program: a Density, or a Posterior."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such model file", os.fspath(path))
    density = _core.Density.load(os.fspath(path))
    if "posterior" in density.attachments:
        from .posterior import Posterior

        return Posterior.load(path)
    record = json.loads(density.record) if density.record else {}
    loaded = Density()
    loaded._take(density, _layout_of(density), record.get("result", {}))
    return loaded
