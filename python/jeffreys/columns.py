"""What users say about the columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .frames import Layout

LISTS = ("condition", "categorical", "integer", "ignore")


def column_name(layout: Layout, column: Any, parameter: str) -> str:
    """The name of a column that is given by its name, or (of an array) by its place."""
    names = layout.names
    if isinstance(column, int) and layout.columns is None and -len(names) <= column < len(names):
        return names[column]
    if str(column) not in names:
        raise _core.InputError(f"{parameter}: X has no column {column!r}; it has {', '.join(names[:20])}")
    return str(column)


def column_names(layout: Layout, given: Any, parameter: str) -> list[str]:
    """A list of them; None: none."""
    if given is None:
        return []
    if isinstance(given, str):
        raise TypeError(f"{parameter}: expected a list of columns, got the text {given!r}")
    return [column_name(layout, column, parameter) for column in given]


def read_columns(layout: Layout, given: dict[str, Any]) -> dict:
    """For the library. Columns whose dtype says so are categories, unless something else is said about them."""
    columns: dict[str, Any] = {key: column_names(layout, given[key], key) for key in LISTS}
    columns["categorical"] += [
        name
        for name in layout.categorical
        if not any(name in columns[key] for key in ("categorical", "integer", "ignore"))
    ]
    columns["bounds"] = {
        column_name(layout, column, "bounds"): _ends(layout, column, ends) for column, ends in (given["bounds"] or {}).items()
    }
    return columns


def _ends(layout: Layout, column: Any, ends: Any) -> tuple[float, float]:
    times = any(str(c.name) == str(column) and c.form == "time" for c in layout.columns or [])
    try:
        lower, upper = (None if end is None else seconds_of(end) if times else float(end) for end in ends)
        return (-np.inf if lower is None else lower, np.inf if upper is None else upper)
    except (TypeError, ValueError):
        what = "dates, or None" if times else "either may be None"
        raise _core.InputError(f"bounds: expected (lower, upper) for {column!r}, {what}, got {ends!r}") from None


def seconds_of(time: Any) -> float:
    """A date or a duration as the library counts it."""
    kind = "m8[ns]" if type(time).__name__ in ("Timedelta", "timedelta", "timedelta64") else "M8[ns]"
    return float(np.asarray(time, dtype=kind).astype(np.int64)) / 1e9
