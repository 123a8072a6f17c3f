"""What a fitted density answers: scores, samples, missing cells, and whether rows can be trusted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _core
from .columns import column_name, column_names, seconds_of
from .estimator import not_fitted, seed_of, threads_of
from .frames import Layout, as_frame, number_text
from .view import View


class Answers:
    """The questions that a Density can be asked. Its owner has _density, _layout and n_jobs."""

    _density: _core.Density
    _layout: Layout
    n_jobs: int | None

    def _fitted(self) -> _core.Density:
        try:
            return self._density
        except AttributeError:
            raise not_fitted(type(self).__name__) from None

    def _table(self, X: Any, weights: Any = None) -> _core.Table:
        density = self._fitted()
        return self._layout.table(self._layout.check(X, type(self).__name__), density.text_columns, weights)

    def _some_columns(self, X: Any) -> _core.Table:
        """The columns of the fit that a frame has; an array has them all."""
        density = self._fitted()
        frame = as_frame(X)
        if frame is None or self._layout.columns is None:
            return self._table(X)
        columns = [c for c in self._layout.columns if c.name in frame.columns]
        texts = density.text_columns
        return _core.Table([c.read(frame[c.name], str(c.name) in texts) for c in columns], "X")

    # Scores

    def score_samples(
        self, X: Any, *, model: str | None = None, columns: Any = None, given: Any = None
    ) -> np.ndarray:
        """The log density of each row, in nats and in the table's units: low is unusual.

        NaN for a row with a missing value (unless the fit kept them: then it is the density of what the row has), -inf for
        one beyond the bounds. model: "main" or "proxy"; None for the one that validation chose.

        columns, given: the density of these columns alone, given those; all others are integrated out, and X need not
        have them. score_samples(X, columns=["price"], given=["age"]) is log p(price | age).
        """
        if columns is not None or given is not None:
            self._fitted()
            wanted = column_names(self._layout, columns, "columns"), column_names(self._layout, given, "given")
            table = self._some_columns(X)
            return self._density.log_prob_given(table, *wanted, model, threads_of(self.n_jobs, table.rows))
        density = self._fitted()
        X = self._layout.check(X, type(self).__name__)
        if self._layout.is_plain(X) and not density.text_columns:
            return density.log_prob_of_numbers(X, model, threads_of(self.n_jobs, len(X)))
        return density.log_prob(self._layout.table(X, density.text_columns), model, threads_of(self.n_jobs, len(X)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, model: str | None = None) -> float:
        """The mean log density of the rows that have one, by their weights: higher is better."""
        scores = self.score_samples(X, model=model)
        known = ~np.isnan(scores)
        if sample_weight is None:
            return float(np.mean(scores[known]))
        return float(np.average(scores[known], weights=read_weights(sample_weight, len(scores))[known]))

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

    def evaluate(self, X: Any, sample_weight: Any = None) -> dict:
        """The mean negative log density of new rows for both models, with standard errors, and how the two agree."""
        table = self._table(X, sample_weight)
        weights = "" if sample_weight is None else self._layout.weights_name
        return self._density.evaluate(table, weights, threads_of(self.n_jobs, table.rows))

    # Rows

    def sample(
        self, n_samples: int = 1, random_state: Any = 0, *, given: Any = None, model: str | None = None
    ) -> Any:
        """New rows, in the form of the table that was fitted; the same random_state gives the same rows.

        given: {"site": "north"}, or a frame, with n_samples rows for each of its. Any columns can be given, not only
        conditions; of a frame, a missing cell is not given. Of a frame with all columns the conditions count.
        """
        density = self._fitted()
        if isinstance(n_samples, bool) or not hasattr(n_samples, "__index__") or n_samples < 1:
            raise ValueError(f"n_samples: expected a whole number from 1 on, got {n_samples!r}")
        if given is None and density.condition_names:
            names = ", ".join(density.condition_names)
            example = "{" + ", ".join(f"{name!r}: ..." for name in density.condition_names) + "}"
            raise _core.InputError(
                f"given: the density is conditional on {names}; say on what, as in given={example}, or with a frame of conditions"
            )
        threads = threads_of(self.n_jobs, n_samples)
        try:
            table, rate = density.sample(n_samples, seed_of(random_state), self._given(given), model, threads)
        except _core.InputError as problem:  # What a dict gives is a table of one row to the library.
            raise _core.InputError(str(problem).replace("row 1: ", "given: ", 1)) if isinstance(given, dict) else problem from None
        if rate < 0.2:
            warnings.warn(f"only {rate:.0%} of the moves of the Markov chain were accepted: do not trust these rows", stacklevel=2)
        return self._layout.give(table)

    def _given(self, given: Any) -> Any:
        if given is None:
            return None
        if not hasattr(given, "items") or hasattr(given, "dtypes"):
            return self._given_table(given)
        by_name = {str(c.name): c for c in self._layout.columns or []}
        texts = {}
        for key, value in given.items():
            name = column_name(self._layout, key, "given")
            if name in by_name and by_name[name].form == "time":
                texts[name] = number_text(seconds_of(value))
            else:
                texts[name] = number_text(value) if isinstance(value, (float, np.floating)) else str(value)
        return texts

    def _given_table(self, given: Any) -> _core.Table:
        frame = as_frame(given)
        if frame is None:
            raise TypeError(f"given: expected a dict or a frame of columns, got {type(given).__name__}")
        names = [str(name) for name in frame.columns]
        for name in self._density.condition_names:
            if name not in names:
                raise _core.InputError(f"given: there is no column {name!r}, which the density is conditional on")
        texts = self._density.text_columns
        known = {str(c.name): c for c in self._layout.columns or []}
        features, conditions = set(self._density.feature_names), set(self._density.condition_names)
        whole_rows = features <= set(names) and conditions
        used = conditions if whole_rows else features | conditions
        read = [
            known[name].read(frame.iloc[:, i], name in texts) if name in known else (name, frame.iloc[:, i].to_numpy(float))
            for i, name in enumerate(names)
            if name in used
        ]
        if not read:
            raise _core.InputError(f"given: no column of this frame is one of the density; these are {', '.join(sorted(used))}")
        return _core.Table(read, "given")

    def impute(
        self, X: Any, *, fill: str = "draw", draws: int | None = None, random_state: Any = 0, model: str | None = None
    ) -> Any:
        """X with its missing cells filled, given the other cells of their rows.

        fill: "draw" as likely as the density says, which keeps the spread of the columns; "mean" or "median" (of a
        category the most probable label). draws: so many copies, each with draws of its own, as a list.
        """
        if draws is not None and (isinstance(draws, bool) or not hasattr(draws, "__index__") or not 1 <= draws <= 1000):
            raise ValueError(f"draws: expected a whole number from 1 to 1000, or None, got {draws!r}")
        if draws is not None and fill != "draw":
            raise ValueError(f"draws: {fill}s are the same in every copy; leave it out")
        table = self._table(X)
        rows = table.rows
        filled, _, left = self._density.impute(table, fill, draws or 1, seed_of(random_state), model, threads_of(self.n_jobs, rows))
        if left:
            row, reason = min(left.items())
            warnings.warn(f"{len(left)} rows are left as they are; row {row}: {reason}", stacklevel=2)
        found = self._layout.give(filled)
        copies = [found[i * rows : (i + 1) * rows] for i in range(draws or 1)]
        if hasattr(X, "index") and hasattr(found, "index"):
            copies = [copy.set_axis(X.index) for copy in copies]
        return copies[0] if draws is None else copies

    def check_synthetic(self, synthetic: Any, real: Any, training: Any = None) -> Any:
        """Can synthetic rows be published? Whether they look like real ones, and whether some are copies of training rows.

        real: rows that they should look like. training: the rows of the fit, if these are others; None: the real ones are.
        """
        from .synthetic import SyntheticCheck

        learned = None if training is None else self._table(training)
        return SyntheticCheck(self._fitted().check_synthetic(self._table(real), self._table(synthetic), learned))

    # Both models

    @property
    def main_(self) -> View:
        """The main model."""
        return View(self, "main")

    @property
    def proxy_(self) -> View | None:
        """The proxy model; None where none was trained."""
        return View(self, "proxy") if self._fitted().has_proxy else None


def read_weights(sample_weight: Any, rows: int) -> np.ndarray:
    """How much each row counts."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise _core.InputError("sample_weight: expected finite numbers that are not negative, and not all 0")
    return weights
