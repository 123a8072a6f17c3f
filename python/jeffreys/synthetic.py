"""Can a synthetic table be published?"""

from __future__ import annotations

from typing import Any

import numpy as np


class SyntheticCheck:
    """What is to say about synthetic rows beside real ones.

    verdict : one sentence; warnings : more of them.
    columns, pairs : how far the two are apart in each column and pair, 0 alike to 1, and what chance alone reaches; frames where
        pandas is installed.
    c2st, c2st_standard_error : how often a classifier tells them apart; 0.5 is guessing.
    copies : (row, training row) of synthetic rows that equal one that was learned from; copied : more than real rows explain.
    distances, real_distances : to the closest training row.
    """

    def __init__(self, found: dict):
        self._found = found
        self.verdict: str = found["verdict"]
        self.warnings: list[str] = found["warnings"]
        self.rows, self.real_rows = found["rows"], found["real_rows"]
        self.c2st: float = found["c2st"]
        self.c2st_standard_error: float = found["c2st_standard_error"]
        self.copies: list[tuple[int, int]] = found["copies"]
        self.real_copies: int = found["real_copies"]
        self.copied: bool = found["copied"]
        self.too_close, self.limit, self.p_value = found["too_close"], found["limit"], found["p_value"]
        self.distances: np.ndarray = found["distances"]
        self.real_distances: np.ndarray = found["real_distances"]

    @property
    def columns(self) -> Any:
        return _frame(self._found["columns"])

    @property
    def pairs(self) -> Any:
        return _frame(self._found["pairs"])

    def plot(self) -> Any:
        """A matplotlib Figure: columns, pairs, and distances to the closest training row."""
        from . import check_plots

        return check_plots.draw_synthetic(self)

    def __repr__(self) -> str:
        return f"<check of {self.rows} synthetic rows beside {self.real_rows} real ones: {self.verdict}>"

    def _repr_html_(self) -> str:
        from . import html

        return html.of_synthetic(self)


def _frame(shapes: list[dict]) -> Any:
    rows = [
        {**{f"column{'' if len(s['columns']) == 1 else i + 1}": name for i, name in enumerate(s["columns"])},
         "distance": s["distance"], "chance": s["chance"]}
        for s in shapes
    ]  # fmt: skip
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
