"""Which method fits a table best."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path
from typing import Any, Callable

from . import _core
from .columns import read_columns
from .estimator import seed_of, setting_text, threads_of
from .frames import Layout
from .progress import Progress
from .spreading import spread, workers


class Comparison:
    """What a comparison found.

    table : a frame (without pandas a list of dicts) with a row for each method: NLL on test rows, in nats a row and the
        table's units, its difference from that of the first method with a 95 % interval, and what a fit took.
    verdict : one sentence.
    notes, jobs, rows, training_rows, test_rows, folder
    """

    def __init__(self, found: dict, folder: str | None):
        self.methods = found["methods"]
        self.verdict: str = found["verdict"]
        self.notes: list[str] = found["notes"]
        self.jobs: list[tuple[str, str, str]] = found["jobs"]
        self.rows, self.dropped_rows = found["rows"], found["dropped_rows"]
        self.training_rows, self.test_rows = found["training_rows"], found["test_rows"]
        self.folder = folder

    @property
    def table(self) -> Any:
        try:
            import pandas
        except ImportError:
            return self.methods
        return pandas.DataFrame(self.methods).set_index("method") if self.methods else pandas.DataFrame()

    def plot(self) -> Any:
        """A matplotlib Figure: differences from the first method with their intervals, and times."""
        from . import check_plots

        return check_plots.draw_comparison(self)

    def __repr__(self) -> str:
        width = max([6, *(len(each["method"]) for each in self.methods)])
        lines = [f"{'method':<{width}}  {'NLL':>10}  {'difference':>26}  {'seconds':>8}"]
        for each in self.methods:
            lines.append(f"{each['method']:<{width}}  {each['nll']:>10.3f}  {difference_text(each):>26}  {each['wall_seconds']:>8.2g}")
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        from . import html

        return html.of_comparison(self)


def difference_text(each: dict) -> str:
    """That of the first method is none, and of a single split it has no interval."""
    if each["difference"] != each["difference"]:
        return ""
    if each["lower"] != each["lower"] or each["splits"] < 2:
        return f"{each['difference']:+.3f}"
    return f"{each['difference']:+.3f} [{each['lower']:+.3f}, {each['upper']:+.3f}]"


def _method_texts(methods: Any) -> list[str]:
    """None, a text as the program takes it, several, or {"name": "mle+members=10"}."""
    if methods is None:
        return []
    if isinstance(methods, str):
        return [methods]
    if hasattr(methods, "items"):
        return [f"{name}={definition}" for name, definition in methods.items()]
    return [str(method) for method in methods]


def _task(layout: Layout, X: Any, columns: dict, options: dict) -> tuple[list, dict[str, bytes]]:
    """One job, in whichever process: what became of it, and the files of its result."""
    with tempfile.TemporaryDirectory(prefix="jeffreys-") as folder:
        found = _core.compare(layout.table(X, columns["categorical"]), {**options, "folder": folder}, columns, None)
        files = {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).glob("*/split-*.json")}
    return found["jobs"], files


def _spread(layout: Layout, X: Any, columns: dict, options: dict, progress: Progress) -> dict:
    """Every job that has no result yet is a task. The folder is claimed before, so that what cannot be done is said now."""
    jobs = options["splits"] * options["seeds"] * len(_core.compare_methods(options["methods"]))
    table = layout.table(X, columns["categorical"])
    nothing = {**options, "shard": (jobs + 1, jobs + 1)}
    _core.compare(table, nothing, columns, None)
    folder = Path(options["folder"])
    names = _job_names(options)
    missing = [place for place in range(jobs) if not (folder / f"{names[place]}.json").exists()]
    alone = {**options, "jobs": 1}
    calls = [(layout, X, columns, {**alone, "shard": (place + 1, jobs)}) for place in missing]
    ended = [(name, "was done", "") for place, name in enumerate(names) if place not in set(missing)]
    for done, (finished, files) in enumerate(spread(_task, calls), len(ended) + 1):
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.with_suffix(".part").write_bytes(content)
            os.replace(path.with_suffix(".part"), path)
        ended += finished
        if progress.tell is not None:
            progress.tell({"label": "compare", "iteration": done, "iterations": jobs})
    return {**_core.compare(table, nothing, columns, None), "jobs": ended}


def _job_names(options: dict) -> list[str]:
    """In the library's order."""
    methods = [name for name, _ in _core.compare_methods(options["methods"])]
    return [
        f"{method}/split-{split}-seed-{seed}"
        for split in range(options["splits"])
        for seed in range(options["seeds"])
        for method in methods
    ]


def compare(
    X: Any,
    methods: Any = None,
    *,
    condition: Any = None,
    categorical: Any = None,
    integer: Any = None,
    ignore: Any = None,
    bounds: dict | None = None,
    settings: dict[str, Any] | None = None,
    group: Any = None,
    splits: int = 5,
    seeds: int = 1,
    test: float = 0.2,
    rows: int | None = None,
    test_rows: int = 5000,
    random_state: Any = 0,
    time_limit: float | None = None,
    folder: str | os.PathLike | None = None,
    n_jobs: int | None = None,
    verbose: Any = "auto",
    callback: Callable[[dict], Any] | None = None,
) -> Comparison:
    """Which method fits a table best: every method on the same random splits of its rows, judged by the same test rows.

    Parameters
    ----------
    methods : ["default", "mle", "mixture"], {"ten": "mle+members=10"}, or None for all: the others are compared with the first.
        `jeffreys._core.compare_kinds()` describes them.
    condition, categorical, integer, ignore, bounds, settings : as of Density, for all methods.
    group : a column whose values stay together in a split, such as a day; it is not modelled.
    splits, seeds : random splits of the rows, and fits of each method to each of them.
    test, rows, test_rows : the share of rows that judge, how many of the others to learn from (None: all), and how many judge at most.
    folder : keeps every finished fit, so that the same call goes on where it was stopped, and more methods, splits or seeds are added.
        The program's folders are of the same form.
    n_jobs : fits at the same time. Around a call, `joblib.parallel_backend` makes each fit a task of that backend (processes, Dask).

    Examples
    --------
    >>> import numpy as np, jeffreys as jf
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = jf.compare(rows, ["gaussian", "kde"], splits=3)
    >>> [method["method"] for method in found.methods]
    ['gaussian', 'kde']
    >>> bool(found.methods[1]["difference"] > 0)
    True
    """
    layout, X = Layout.of(X)
    given = {"condition": condition, "categorical": categorical, "integer": integer, "ignore": ignore, "bounds": bounds}
    columns = read_columns(layout, given)
    with tempfile.TemporaryDirectory(prefix="jeffreys-") as scratch:
        options = {
            "methods": _method_texts(methods),
            "settings": [(key, setting_text(value)) for key, value in (settings or {}).items()],
            "group": "" if group is None else str(group),
            "splits": _count(splits, "splits"),
            "seeds": _count(seeds, "seeds"),
            "test": float(test),
            "rows": 0 if rows is None else _count(rows, "rows"),
            "test_rows": _count(test_rows, "test_rows"),
            "seed": seed_of(random_state),
            "time_limit": float(time_limit or 0),
            "jobs": threads_of(n_jobs),
            "shard": (1, 1),
            "folder": os.path.join(scratch, "compare") if folder is None else os.fspath(folder),
        }
        with Progress(verbose, callback) as progress:
            if workers() > 0:
                found = _spread(layout, X, columns, options, progress)
            else:
                found = _core.compare(layout.table(X, columns["categorical"]), options, columns, progress.tell)
    for name, state, message in found["jobs"]:
        if state == "failed":
            warnings.warn(f"{name} failed: {message}", RuntimeWarning, stacklevel=2)
    return Comparison(found, None if folder is None else os.fspath(folder))


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        raise ValueError(f"{name}: expected a whole number from 1 on, got {value!r}")
    return value.__index__()
