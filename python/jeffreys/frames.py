"""Tables in Python: frames and arrays to what the library reads, and samples back to the same form.

A frame is read as the program reads the CSV file that the frame writes, except that columns of
categories and bools are categories, dates are seconds since 1970, and that missing is what pandas
calls missing, or an empty text.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np

from . import _core

SOURCE = "X"


def as_frame(X: Any) -> Any:
    """X as a pandas frame if it is one, or something like one; else None."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if isinstance(X, pandas.DataFrame):
            return X
        if isinstance(X, pandas.Series):
            return X.to_frame()
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    return None


def as_array(X: Any) -> np.ndarray:
    """X as an array of two dimensions: of doubles, or of objects with text in them."""
    if hasattr(X, "toarray"):
        raise TypeError("A sparse matrix was passed, but dense data is required. Use X.toarray() to convert it.")
    if hasattr(X, "detach"):
        X = X.detach().cpu()
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}")
    if array.ndim == 0:
        hint = "; read the file first, for example with pandas.read_csv" if isinstance(X, str) else ""
        raise ValueError(f"Expected 2D array, got scalar array instead: X is a frame, or an array of [rows, columns], not {type(X).__name__}{hint}")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. "
            "Reshape your data using X.reshape(-1, 1) if it has a single column, or X.reshape(1, -1) if it is one row."
        )
    if array.dtype.kind in "fiub":
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "mM":
        return np.asarray(array, dtype=object)
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except ValueError:
        return array.astype(object)


def check_shape(rows: int, columns: int) -> None:
    if columns == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required.")
    if rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape=(0, {columns})) while a minimum of 1 is required.")


def number_text(value: float) -> str:
    """A number as the library writes it: shortest, and whole numbers without a point."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def _text_parts(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Codes and labels of texts; what is missing (None, NaN, "") has the code -1."""
    import pandas

    codes, labels = pandas.factorize(values, sort=False)
    texts = [str(label) for label in labels]
    if "" in texts:
        codes = np.where(codes == texts.index(""), -1, codes)
    return codes.astype(np.int32), texts


def _number_labels(numbers: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The same of numbers that are labels."""
    known = ~np.isnan(numbers)
    values, places = np.unique(numbers[known], return_inverse=True)
    codes = np.full(len(numbers), -1, dtype=np.int32)
    codes[known] = places
    return codes, [number_text(value) for value in values]


def _seconds(series: Any) -> np.ndarray:
    stamps = series.to_numpy(dtype="datetime64[ns]" if series.dtype.kind == "M" else "timedelta64[ns]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e9)


class Column:
    """How one column of a frame is read, and how samples of it are given back."""

    def __init__(self, name: Any, dtype: str, form: str, categories: list | None = None, ordered: bool = False):
        self.name = name
        self.dtype = dtype
        self.form = form  # number, time, text, category
        self.categories = categories
        self.ordered = ordered

    @classmethod
    def of(cls, name: Any, series: Any) -> Column:
        dtype = str(series.dtype)
        kind = getattr(series.dtype, "kind", "O")
        if dtype == "category":
            items = series.cat.categories.tolist()
            if not all(isinstance(item, (str, int, float, bool)) for item in items):
                items = [str(item) for item in items]
            if len({_label(item) for item in items}) < len(items):
                raise _core.InputError(f"X: two categories of column {str(name)!r} are written alike; rename one of them")
            return cls(name, dtype, "category", items, bool(series.cat.ordered))
        if kind == "c":
            raise ValueError(f"Complex data not supported: column {str(name)!r}")
        if kind == "b":
            return cls(name, dtype, "category", [False, True])
        if kind in "iuf":
            return cls(name, dtype, "number")
        if kind in "mM":
            zone = getattr(series.dtype, "tz", None)
            return cls(name, f"datetime64[ns, {zone}]" if zone is not None else dtype, "time")
        return cls._of_objects(name, dtype, series)

    @classmethod
    def _of_objects(cls, name: Any, dtype: str, series: Any) -> Column:
        from pandas.api.types import infer_dtype

        found = infer_dtype(series, skipna=True)
        if found == "string":
            return cls(name, dtype, "text")
        if found == "boolean":
            return cls(name, dtype, "category", [False, True])
        if found in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
            return cls(name, "float64", "number")
        if found in ("datetime", "datetime64", "date"):
            return cls(name, "datetime64[ns]", "time")
        known = [(i, v) for i, v in enumerate(series) if v is not None and v == v]
        row, value = next(((i, v) for i, v in known if type(v) is not type(known[0][1])), known[0])
        raise _core.InputError(
            f"X, row {row}: column {str(name)!r} holds objects of different kinds, here {value!r} of type "
            f"{type(value).__name__}; make it one kind, for example with df[{name!r}].astype(str) or pandas.to_numeric"
        )

    def read(self, series: Any, text: bool) -> tuple:
        """(name, numbers) or (name, codes, labels) for the library; text: the model wants labels."""
        name = str(self.name)
        kind = getattr(series.dtype, "kind", "O")
        if str(series.dtype) == "category":
            used, codes = np.unique(series.cat.codes.to_numpy(), return_inverse=True)
            labels = [_label(series.cat.categories[code]) for code in used if code >= 0]
            return name, (codes - int(used[0] < 0) if len(used) else codes).astype(np.int32), labels
        if kind in "iuf" or (kind == "b" and self.form == "number" and not text):
            numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
            return (name, *_number_labels(numbers)) if text or self.form == "category" else (name, numbers)
        if self.form == "time":
            import pandas

            return name, _seconds(series if kind in "mM" else pandas.to_datetime(series))
        if self.form == "number" and not text and kind == "O":
            try:
                return name, series.to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError):
                pass  # The library says what is wrong with text where numbers belong.
        return (name, *_text_parts(series.to_numpy(dtype=object, na_value=None)))

    def give(self, parts: tuple) -> Any:
        """What the library gave, as a column of the frame's dtype."""
        import pandas

        if len(parts) == 3:
            return self._give_labels(parts[1], parts[2])
        numbers = parts[1]
        if self.form == "time":
            known = np.isfinite(numbers)
            whole = np.rint(np.where(known, numbers, 0) * 1e6).astype("int64")
            if self.dtype.startswith("timedelta"):
                return pandas.Series(pandas.to_timedelta(whole, unit="us")).where(known).array
            stamps = pandas.DatetimeIndex(pandas.Series(pandas.to_datetime(whole, unit="us")).where(known))
            zone = self.dtype[len("datetime64[ns, ") : -1]
            return stamps.tz_localize("UTC").tz_convert(zone) if zone else stamps
        if "int" in self.dtype.lower():
            if not np.array_equal(numbers, np.rint(numbers)):
                return numbers
            return pandas.array(numbers, dtype=self.dtype)
        return pandas.array(numbers, dtype=self.dtype) if self.dtype != "float64" else numbers

    def _give_labels(self, codes: np.ndarray, labels: list[str]) -> Any:
        import pandas

        if self.form == "category":
            places = {_label(item): place for place, item in enumerate(self.categories)}
            known = np.array([places.get(label, -1) for label in labels] + [-1])[codes]
            if self.dtype == "category":
                return pandas.Categorical.from_codes(known, self.categories, ordered=self.ordered)
            return pandas.array(np.array([*self.categories, None], dtype=object)[known], dtype=self.dtype)
        values = np.array([*labels, None], dtype=object)[codes]
        if self.form == "number":
            return pandas.array([float(value) for value in values]).astype(self.dtype)
        return pandas.array(values, dtype=self.dtype) if self.dtype != "object" else values


def _label(item: Any) -> str:
    return number_text(item) if isinstance(item, float) else str(item)


class Layout:
    """The form of the table that a model was fitted to: an array (no columns), or a frame's columns."""

    def __init__(self, width: int, columns: list[Column] | None):
        self.width = width
        self.columns = columns

    @property
    def names(self) -> list[str]:
        return [str(c.name) for c in self.columns] if self.columns else [f"x{i + 1}" for i in range(self.width)]

    @property
    def has_names(self) -> bool:
        return self.columns is not None and all(isinstance(c.name, str) for c in self.columns)

    @classmethod
    def of(cls, X: Any) -> tuple[Layout, Any]:
        """The layout of what a model is fitted to, and X as a frame or an array."""
        frame = as_frame(X)
        if frame is None:
            array = as_array(X)
            check_shape(*array.shape)
            if array.dtype != object:
                return cls(array.shape[1], None), array
            import pandas

            frame = pandas.DataFrame(array, columns=[f"x{i + 1}" for i in range(array.shape[1])]).infer_objects()
        check_shape(*frame.shape)
        names = [str(name) for name in frame.columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise _core.InputError(f"X: two columns are called {twice!r}; rename one of them")
        columns = [Column.of(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
        return cls(len(names), columns), frame

    @property
    def categorical(self) -> list[str]:
        """Columns whose dtype says that they are categories."""
        return [str(c.name) for c in self.columns or [] if c.form == "category"]

    @property
    def weights_name(self) -> str:
        """A column that the table does not have, for weights."""
        name = "sample_weight"
        while name in self.names:
            name += "_"
        return name

    def is_plain(self, X: Any) -> bool:
        """Whether X is numbers alone, as the library reads them."""
        return self.columns is None and type(X) is np.ndarray and X.dtype != object

    def table(self, X: Any, text_columns: Any = (), weights: Any = None) -> _core.Table:
        """X, of this layout, for the library; weights of its rows as one more column."""
        if isinstance(X, np.ndarray):
            if self.is_plain(X) and not text_columns:
                if weights is None:
                    return _core.Table(X, [], SOURCE)
                return _core.Table([*zip(self.names, X.T), (self.weights_name, weights)], SOURCE)
            import pandas

            X = pandas.DataFrame(X, columns=self.names)
        columns = self.columns or [Column(name, "float64", "number") for name in self.names]
        read = [c.read(X.iloc[:, i], str(c.name) in text_columns) for i, c in enumerate(columns)]
        if weights is not None:
            read.append((self.weights_name, np.asarray(weights, dtype=np.float64)))
        return _core.Table(read, SOURCE)

    def check(self, X: Any, who: str) -> Any:
        """X as a frame or array, refused unless it has the form of the table that was fitted."""
        if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and not self.has_names:
            array = X
        else:
            frame = as_frame(X)
            if frame is not None:
                return self._check_frame(frame, who)
            array = as_array(X)
        if array.shape[1] != self.width:
            raise ValueError(f"X has {array.shape[1]} features, but {who} is expecting {self.width} features as input.")
        if array.shape[0] == 0:
            check_shape(*array.shape)
        if self.has_names:
            warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=4)
        return array

    def _check_frame(self, frame: Any, who: str) -> Any:
        check_shape(*frame.shape)
        given = [str(name) for name in frame.columns]
        if not self.has_names:
            if frame.shape[1] != self.width:
                raise ValueError(f"X has {frame.shape[1]} features, but {who} is expecting {self.width} features as input.")
            if self.columns is None and all(isinstance(name, str) for name in frame.columns):
                warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=5)
            return frame
        if given == self.names:
            return frame
        lines = ["The feature names should match those that were passed during fit."]
        for title, some in (
            ("Feature names unseen at fit time:", sorted(set(given) - set(self.names))),
            ("Feature names seen at fit time, yet now missing:", sorted(set(self.names) - set(given))),
        ):
            if some:
                lines += [title, *[f"- {name}" for name in some[:5]], *(["- ..."] if len(some) > 5 else [])]
        if len(lines) == 1:
            lines.append("Feature names must be in the same order as they were in fit.")
        raise ValueError("\n".join(lines) + "\n")

    def give(self, table: _core.Table) -> Any:
        """Rows of the library in the form of this layout; columns that it does not give are left out."""
        if self.columns is None:
            return table.to_matrix()
        import pandas

        parts = table.take_columns()
        by_name = {str(c.name): c for c in self.columns}
        frame = pandas.DataFrame({by_name[part[0]].name: by_name[part[0]].give(part) for part in parts})
        return frame

    def to_json(self) -> str:
        return json.dumps({"width": self.width, "columns": self.columns and [vars(c) for c in self.columns]})

    @classmethod
    def from_json(cls, text: str) -> Layout:
        read = json.loads(text)
        return cls(read["width"], read["columns"] and [Column(**column) for column in read["columns"]])

    @classmethod
    def of_model(cls, density: Any) -> Layout:
        """That of a density which the program fitted."""
        columns = density.columns
        names = [column["name"] for column in columns]
        numeric = all(column["kind"] != "categorical" for column in columns)
        if numeric and names == [f"x{i + 1}" for i in range(len(names))]:
            return cls(len(names), None)
        forms = [("object", "text") if c["kind"] == "categorical" else (_dtype(c), "number") for c in columns]
        return cls(len(names), [Column(name, *form) for name, form in zip(names, forms)])


def _dtype(column: dict) -> str:
    return "int64" if column["kind"] == "integer" and column["resolution"] >= 1 else "float64"
