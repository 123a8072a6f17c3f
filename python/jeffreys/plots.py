"""Figures of densities by matplotlib, of the library's numbers and drawn like the program's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

DATA, MODEL, PROXY = "#4c566a", "#c0392b", "#1f6fb2"
_CELLS = 128
MOST_COLUMNS = 8
_DAY = 86400


def new_figure(rows: int, columns: int, size: float = 2.6, **options: Any) -> tuple[Any, np.ndarray]:
    """A figure of its own: nothing is left in pyplot's list, and no backend is chosen."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """Notebooks show it, also where nobody has imported pyplot."""

        def _repr_png_(self) -> bytes:
            from io import BytesIO

            image = BytesIO()
            self.savefig(image, format="png", dpi=72)
            return image.getvalue()

    figure = ShownFigure(figsize=(max(size * columns, 3), max(size * rows, 2.6)), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def _number_columns(frame: Any, names: list[str], columns: list[dict]) -> np.ndarray:
    """Columns as numbers to draw; labels as their places among those of the model."""
    kinds = {column["name"]: column for column in columns}
    drawn = []
    for name in names:
        values = frame[name] if hasattr(frame, "columns") else frame[:, [c["name"] for c in columns].index(name)]
        if kinds[name]["kind"] == "categorical":
            places = {label: place for place, label in enumerate(kinds[name]["labels"])}
            drawn.append([places.get(_text(value), math.nan) for value in values])
        elif kinds[name].get("time"):
            drawn.append(np.asarray(values, dtype="datetime64[s]").astype(float) / _DAY)
        else:
            drawn.append(np.asarray(values.astype(float)))
    return np.column_stack(drawn)


def _described(density: Any) -> list[dict]:
    """What is known about the columns; dates are drawn in days, which matplotlib counts in."""
    dates = {str(c.name) for c in density._layout.columns or [] if c.dtype.startswith("datetime")}
    columns = density._density.columns
    for column in columns:
        if column["name"] in dates:
            column.update(time=True, resolution=column["resolution"] / _DAY)
    return columns


def _text(value: Any) -> str:
    from .frames import number_text

    return number_text(value) if isinstance(value, (float, np.floating)) else str(value)


def draw_density(density: Any, X: Any = None, *, columns: Any = None, given: Any = None, model: str | None = None) -> Any:
    """Two columns of numbers: data and density maps of both models; else every column against every other."""
    core = density._density
    described = _described(density)
    features = core.feature_names
    wanted = features[:MOST_COLUMNS] if columns is None else [str(name) for name in columns]
    for name in wanted:
        if name not in features:
            raise ValueError(f"columns: the density has no column {name!r}; it has {', '.join(features)}")
    data = None
    if X is not None:
        X = density._layout.check(X, "Density")
        density._layout.table(X, core.text_columns)
        data = _number_columns(X, wanted, described)
    plane = len(features) == 2 and all(c["kind"] != "categorical" for c in described if c["name"] in features)
    plane = plane and not any(c.get("time") for c in described)
    if plane and columns is None and not core.condition_names:
        return _draw_plane(density, data, wanted)
    if given is None and X is not None and core.condition_names:
        given = _conditions(X, density)
    each = 2000 if given is None or isinstance(given, dict) else max(1, 2000 // len(given))
    samples = _number_columns(density.sample(each, given=given, model=model), wanted, described)
    title = "samples"
    if data is not None:
        title = "data (grey) and samples (red)" if len(wanted) == 1 else "data below the diagonal (grey), samples above (red)"
    if len(wanted) < len(features):
        title += f"; {len(wanted)} of {len(features)} columns"
    return _draw_pairs(data, samples, wanted, described, title)


def _conditions(X: Any, density: Any) -> Any:
    """The conditions of at most 2,000 rows of the data: what samples beside them are given."""
    import pandas

    frame = X if hasattr(X, "columns") else pandas.DataFrame(X, columns=density._layout.names)
    rows = frame if len(frame) <= 2000 else frame.sample(2000, random_state=0)
    return rows[[c for c in frame.columns if str(c) in density._density.condition_names]]


def _ends(values: np.ndarray, column: dict) -> tuple[float, float]:
    """The values but for far ones, with a margin, inside the column's bounds; of a category, its labels."""
    if column["kind"] == "categorical":
        return -0.5, len(column["labels"]) - 0.5
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.005, 0.995])
    span = max(high - low, 1e-12)
    low, high = max(values.min(), low - 0.2 * span), min(values.max(), high + 0.2 * span)
    return max(low - 0.05 * span, column["bounds"][0]), min(high + 0.05 * span, column["bounds"][1])


def _draw_plane(density: Any, data: np.ndarray | None, names: list[str]) -> Any:
    columns = _described(density)
    described = {column["name"]: column for column in columns}
    shown = data if data is not None else _number_columns(density.sample(2000), names, columns)
    (x0, x1), (y0, y1) = (_ends(shown[:, i], described[name]) for i, name in enumerate(names))
    models = ["main", "proxy"] if density.proxy_ is not None else ["main"]
    maps = [_map(density, names, (x0, x1, y0, y1), model) for model in models]
    panels = ([("data", None)] if data is not None else []) + [(f"{m} model", g) for m, g in zip(models, maps)]
    figure, axes = new_figure(1, len(panels), 3.2, sharex=True, sharey=True)
    most = max(float(np.quantile(grid, 0.999)) for grid in maps)
    for axis, (title, grid) in zip(axes[0], panels):
        if grid is None:
            axis.plot(*data.T, ".", color=DATA, markersize=2.5, alpha=0.7)
        else:
            image = axis.imshow(grid, origin="lower", extent=(x0, x1, y0, y1), aspect="auto", vmin=0, vmax=most, cmap="viridis")
        axis.set(title=title, xlabel=names[0], xlim=(x0, x1), ylim=(y0, y1))
    axes[0, 0].set_ylabel(names[1])
    figure.colorbar(image, ax=list(axes[0]), label="density")
    return figure


def _map(density: Any, names: list[str], box: tuple, model: str) -> np.ndarray:
    """The density at the centres of a grid of cells, [y, x]."""
    centres = [low + (np.arange(_CELLS) + 0.5) * (high - low) / _CELLS for low, high in (box[:2], box[2:])]
    x, y = np.meshgrid(*centres)
    rows = density.sample(x.size, model="main")
    if hasattr(rows, "columns"):
        rows = rows.assign(**{names[0]: x.ravel(), names[1]: y.ravel()})
    else:
        kept = [c["name"] for c in density._density.columns]
        rows[:, kept.index(names[0])], rows[:, kept.index(names[1])] = x.ravel(), y.ravel()
    return np.exp(density.score_samples(rows, model=model)).reshape(x.shape)


def _draw_pairs(data: np.ndarray | None, samples: np.ndarray, names: list[str], described: list[dict], title: str) -> Any:
    """Data below the diagonal, samples above it, histograms of both on it."""
    count = len(names)
    figure, axes = new_figure(count, count, 1.9 if count > 2 else 2.8)
    columns = {column["name"]: column for column in described}
    both = [data, samples] if data is not None else [samples]
    # The data set the scale; a far sample does not stretch it.
    ends = [_ends(both[0][:, i], {**columns[name], "bounds": (-math.inf, math.inf)}) for i, name in enumerate(names)]
    spread = [_jittered(values, [columns[name] for name in names]) for values in both]
    for i, row in enumerate(names):
        for j, column in enumerate(names):
            axis = axes[i, j]
            if i == j:
                edges = _bins(both[0][:, i], columns[row])
                if data is not None:
                    axis.hist(data[:, i], bins=edges, density=True, histtype="stepfilled", color=DATA, alpha=0.35)
                axis.hist(samples[:, i], bins=edges, density=True, histtype="step", color=MODEL)
                axis.margins(y=0.1)
                axis.set_yticks([])
            else:
                values, color = (spread[0], DATA) if i > j and data is not None else (spread[-1], MODEL)
                some = values[:: max(1, len(values) // 1200)]
                axis.plot(some[:, j], some[:, i], ".", color=color, markersize=1.8, alpha=0.5)
                axis.set_ylim(ends[i])
            axis.set_xlim(ends[j])
            _label(axis, columns[row], columns[column], i, j, count)
    figure.suptitle(title, fontsize="medium")
    return figure


def _jittered(values: np.ndarray, columns: list[dict]) -> np.ndarray:
    """Rows of the same label beside one another instead of on top."""
    width = np.array([0.5 if column["kind"] == "categorical" else 0.0 for column in columns])
    return values + width * (np.random.default_rng(0).random(values.shape) - 0.5)


def _bins(values: np.ndarray, column: dict) -> np.ndarray:
    """Edges between the cells of whole and rounded numbers, with as many cells in each bin; else equal bins."""
    values = values[np.isfinite(values)]
    if column["kind"] == "categorical":
        return np.arange(-0.5, len(column["labels"]))
    step = column["resolution"]
    low, high = values.min(), values.max()
    most = min(40, max(10, int(len(values) ** 0.5)))
    if 0 < step < (high - low) / 2:
        cells = (high - low) / step
        width = step if cells < 40 else step * math.ceil(cells / most)
        return np.arange(low - step / 2, high + width, width)
    return np.histogram_bin_edges(values, bins=most)


def _label(axis: Any, row: dict, column: dict, i: int, j: int, count: int) -> None:
    """Names and numbers at the left and lower edge of the figure; labels and dates for what they are."""
    axis.tick_params(labelsize="x-small", labelbottom=i == count - 1, labelleft=j == 0 and i > 0)
    for name, side, edge in (("x", column, i == count - 1), ("y", row, j == 0 and i > 0)):
        if edge:
            getattr(axis, f"set_{name}label")(side["name"], fontsize="small")
        if name == "y" and i == j:
            continue
        if side["kind"] == "categorical" and len(side["labels"]) <= 8:
            getattr(axis, f"set_{name}ticks")(range(len(side["labels"])), side["labels"], rotation=45 if name == "x" else 0)
        elif side.get("time"):
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator(maxticks=4)
            getattr(axis, f"{name}axis").set_major_locator(locator)
            getattr(axis, f"{name}axis").set_major_formatter(ConciseDateFormatter(locator, show_offset=False))


def draw_training(course: dict, report: dict) -> Any:
    """NLL of training and held-out rows, multipliers, and balance, over the iterations."""
    steps, evaluations = course["steps"], course["evaluations"]
    if not steps:
        raise ValueError("this model holds no training: it was not made by a fit")
    multipliers = {name[len("lambda_") :]: values for name, values in steps.items() if name.startswith("lambda_")}
    dual = np.isfinite(steps["balance"]).any()
    figure, axes = new_figure(1, 3 if dual else 1, 3.4)
    nll = axes[0, 0]
    for key, held, color, name in (("nll", "main", MODEL, "main"), ("proxy_nll", "proxy", PROXY, "proxy")):
        if np.isfinite(steps[key]).any():
            nll.plot(steps["iteration"], steps[key], color=color, alpha=0.35, linewidth=0.8, label=f"{name}, training")
        if evaluations and np.isfinite(evaluations[held]).any():
            nll.plot(evaluations["iteration"], evaluations[held], color=color, label=f"{name}, held out")
    shown = [v[len(v) // 20 :] for v in (steps["nll"], evaluations.get("main", np.array([])))]
    values = np.concatenate([v[np.isfinite(v)] for v in shown])
    low, high = np.quantile(values, [0, 0.99])
    nll.set(xlabel="iteration", ylabel="NLL of standardised rows", ylim=(low - 0.08 * (high - low), high + 0.08 * (high - low)))
    for key, color in (("main", MODEL), ("proxy", PROXY)):
        kept = (report.get("selected") or {}).get(f"{key}_iteration")
        if kept:
            nll.axvline(kept, color=color, linewidth=0.8, linestyle=":", label=f"{key}, kept state")
    nll.legend(fontsize="x-small", frameon=False)
    if dual:
        for name, values in multipliers.items():
            axes[0, 1].plot(steps["iteration"], values, label=name)
        axes[0, 1].set(xlabel="iteration", ylabel="multipliers")
        axes[0, 1].legend(fontsize="x-small", frameon=False)
        axes[0, 2].plot(steps["iteration"], steps["balance"], color=DATA)
        axes[0, 2].set(xlabel="iteration", ylabel="balance (1: forward KL alone)", ylim=(0, 1))
    return figure
