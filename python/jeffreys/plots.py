"""Figures by matplotlib, of the library's numbers and drawn like the program's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_DATA, _MODEL, _PROXY = "#4c566a", "#c0392b", "#1f6fb2"
_CELLS = 128
_MOST_COLUMNS = 8
_DAY = 86400


def _figure(rows: int, columns: int, size: float = 2.6, **options: Any) -> tuple[Any, np.ndarray]:
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
    wanted = features[:_MOST_COLUMNS] if columns is None else [str(name) for name in columns]
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
    samples = _number_columns(density.sample(2000, given=given, model=model), wanted, described)
    title = "samples" if data is None else "data below the diagonal (grey), samples above (red)"
    if len(wanted) < len(features):
        title += f"; {len(wanted)} of {len(features)} columns"
    return _draw_pairs(data, samples, wanted, described, title)


def _ends(values: np.ndarray, column: dict) -> tuple[float, float]:
    """Nearly all of the values, with a margin, inside the column's bounds."""
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.005, 0.995])
    margin = 0.08 * max(high - low, 1e-12)
    return max(low - margin, column["bounds"][0]), min(high + margin, column["bounds"][1])


def _draw_plane(density: Any, data: np.ndarray | None, names: list[str]) -> Any:
    columns = _described(density)
    described = {column["name"]: column for column in columns}
    shown = data if data is not None else _number_columns(density.sample(2000), names, columns)
    (x0, x1), (y0, y1) = (_ends(shown[:, i], described[name]) for i, name in enumerate(names))
    models = ["main", "proxy"] if density.proxy_ is not None else ["main"]
    maps = [_map(density, names, (x0, x1, y0, y1), model) for model in models]
    panels = ([("data", None)] if data is not None else []) + [(f"{m} model", g) for m, g in zip(models, maps)]
    figure, axes = _figure(1, len(panels), 3.2, sharex=True, sharey=True)
    most = max(float(np.quantile(grid, 0.999)) for grid in maps)
    for axis, (title, grid) in zip(axes[0], panels):
        if grid is None:
            axis.plot(*data.T, ".", color=_DATA, markersize=2.5, alpha=0.7)
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
    figure, axes = _figure(count, count, 1.9 if count > 2 else 2.8)
    columns = {column["name"]: column for column in described}
    both = [data, samples] if data is not None else [samples]
    # The data set the scale; a far sample does not stretch it.
    ends = [_ends(both[0][:, i], {"bounds": (-math.inf, math.inf)}) for i in range(count)]
    for i, row in enumerate(names):
        for j, column in enumerate(names):
            axis = axes[i, j]
            if i == j:
                edges = _bins(both[0][:, i], columns[row])
                for values, color in zip(both, [_DATA, _MODEL][-len(both) :]):
                    axis.hist(values[:, i], bins=edges, density=True, histtype="step", color=color)
                axis.margins(y=0.1)
                axis.set_yticks([])
            else:
                values, color = (data, _DATA) if i > j and data is not None else (samples, _MODEL)
                some = values[:: max(1, len(values) // 1200)]
                axis.plot(some[:, j], some[:, i], ".", color=color, markersize=1.8, alpha=0.5)
                axis.set_ylim(ends[i])
            axis.set_xlim(ends[j])
            _label(axis, columns[row], columns[column], i, j, count)
    figure.suptitle(title, fontsize="medium")
    return figure


def _bins(values: np.ndarray, column: dict) -> np.ndarray:
    """Edges between the cells of whole and rounded numbers, if these are few; else equal bins."""
    values = values[np.isfinite(values)]
    step = 1 if column["kind"] == "categorical" else column["resolution"]
    low, high = values.min(), values.max()
    if step > 0 and (high - low) / step < 40:
        return np.arange(low - step / 2, high + step, step)
    return np.histogram_bin_edges(values, bins=min(40, max(10, int(len(values) ** 0.5))))


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
    figure, axes = _figure(1, 3 if dual else 1, 3.4)
    nll = axes[0, 0]
    for key, held, color, name in (("nll", "main", _MODEL, "main"), ("proxy_nll", "proxy", _PROXY, "proxy")):
        if np.isfinite(steps[key]).any():
            nll.plot(steps["iteration"], steps[key], color=color, alpha=0.35, linewidth=0.8, label=f"{name}, training")
        if evaluations and np.isfinite(evaluations[held]).any():
            nll.plot(evaluations["iteration"], evaluations[held], color=color, label=f"{name}, held out")
    shown = [v[len(v) // 20 :] for v in (steps["nll"], evaluations.get("main", np.array([])))]
    values = np.concatenate([v[np.isfinite(v)] for v in shown])
    low, high = np.quantile(values, [0, 0.99])
    nll.set(xlabel="iteration", ylabel="NLL of standardised rows", ylim=(low - 0.08 * (high - low), high + 0.08 * (high - low)))
    nll.legend(fontsize="x-small", frameon=False)
    if dual:
        for name, values in multipliers.items():
            axes[0, 1].plot(steps["iteration"], values, label=name)
        axes[0, 1].set(xlabel="iteration", ylabel="multipliers")
        axes[0, 1].legend(fontsize="x-small", frameon=False)
        axes[0, 2].plot(steps["iteration"], steps["balance"], color=_DATA)
        axes[0, 2].set(xlabel="iteration", ylabel="balance (1: forward KL alone)", ylim=(0, 1))
    return figure


def draw_posterior(samples: np.ndarray, names: list[str], truth: Any, prior: Any) -> Any:
    """Every parameter against every other with the smallest regions of 50 and 90 %, each alone on the diagonal."""
    count = min(len(names), _MOST_COLUMNS)
    truth = None if truth is None else np.asarray(truth, dtype=float).ravel()
    if truth is not None and len(truth) != len(names):
        raise ValueError(f"truth: expected {len(names)} numbers, got {len(truth)}")
    figure, axes = _figure(count, count, 2.4)
    ends = [_support(samples[:, i], prior.distributions[names[i]] if prior else None) for i in range(count)]
    for i in range(count):
        for j in range(count):
            axis = axes[i, j]
            if j > i:
                axis.set_axis_off()
                continue
            axis.set_xlim(ends[j])
            axis.tick_params(labelsize="x-small")
            if i == j:
                _draw_alone(axis, samples[:, i], ends[i], names[i])
            else:
                _draw_regions(axis, samples[:, [j, i]], ends[j], ends[i])
                axis.set_ylim(ends[i])
            if truth is not None:
                axis.axvline(truth[j], color=_MODEL, linewidth=0.9)
                if i != j:
                    axis.axhline(truth[i], color=_MODEL, linewidth=0.9)
            axis.tick_params(labelbottom=i == count - 1, labelleft=j == 0 and i > 0)
            if i == count - 1:
                axis.set_xlabel(names[j])
            if j == 0 and i > 0:
                axis.set_ylabel(names[i])
    if count < len(names):
        figure.suptitle(f"{count} of {len(names)} parameters")
    return figure


def _support(values: np.ndarray, distribution: Any) -> tuple[float, float]:
    """Around the samples; the prior's ends, unless the samples fill less than half of what is between them."""
    low, high = np.quantile(values, [0.001, 0.999])
    margin = 0.1 * max(high - low, 1e-12)
    lower, upper = (distribution.lower, distribution.upper) if distribution is not None else (-math.inf, math.inf)
    if math.isfinite(upper - lower) and high - low > 0.5 * (upper - lower):
        return lower, upper
    return max(low - margin, lower), min(high + margin, upper)


def _draw_alone(axis: Any, values: np.ndarray, ends: tuple[float, float], name: str) -> None:
    bins = int(min(60, max(15, len(values) ** 0.4)))
    axis.hist(values, bins=bins, range=ends, density=True, color=_PROXY, alpha=0.35, histtype="stepfilled")
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    axis.set_title(f"{name}\n{middle:.3g} ({low:.3g} to {high:.3g})", fontsize="small")
    axis.set_yticks([])


def _draw_regions(axis: Any, points: np.ndarray, x_ends: tuple, y_ends: tuple) -> None:
    cells = int(min(100, max(20, len(points) ** 0.5)))
    counts, x, y = np.histogram2d(*points.T, bins=cells, range=[x_ends, y_ends])
    smooth = _smooth(_smooth(counts))
    order = np.sort(smooth.ravel())[::-1]
    share = np.cumsum(order) / order.sum()
    half, most = (order[np.searchsorted(share, level)] for level in (0.5, 0.9))
    centres = [(edges[1:] + edges[:-1]) / 2 for edges in (x, y)]
    axis.contourf(*centres, smooth.T, levels=[most, half, order[0] * 1.001], colors=["#b7d3ea", "#6fa8d6"])
    axis.contour(*centres, smooth.T, levels=[most, half], colors=[_PROXY], linewidths=0.8)


def _smooth(counts: np.ndarray) -> np.ndarray:
    """A little, by (1, 2, 1) / 4 along both axes; mass at the edges stays inside."""
    for axis in (0, 1):
        padded = np.pad(counts, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
        first, middle, last = (np.take(padded, np.arange(counts.shape[axis]) + k, axis=axis) for k in range(3))
        counts = (first + 2 * middle + last) / 4
    return counts


def draw_check(check: Any) -> Any:
    """Coverage against credibility with its band, and the ranks of each parameter with theirs."""
    parameters = list(check.sbc["parameters"].items())
    panels = 2 + len(parameters)
    columns = min(4, panels)
    figure, axes = _figure(-(-panels // columns), columns, 2.8)
    flat = list(axes.flat)
    for axis, curve, title in ((flat[0], check.coverage, "highest-density regions"), (flat[1], check.tarp, "TARP")):
        credibility = curve["credibility"]
        axis.fill_between(
            credibility, np.clip(credibility - curve["band"], 0, 1), np.clip(credibility + curve["band"], 0, 1), color="0.88"
        )
        axis.plot([0, 1], [0, 1], color="0.5", linewidth=0.8, linestyle="--")
        axis.plot(credibility, curve["coverage"], color=_MODEL)
        axis.set(title=title, xlabel="credibility", ylabel="coverage", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axis.text(0.04, 0.93, "under-confident", fontsize="x-small", color="0.4")
        axis.text(0.96, 0.04, "over-confident", fontsize="x-small", color="0.4", ha="right")
    for axis, (name, found) in zip(flat[2:], parameters):
        edges = np.linspace(0, 1, len(found["count"]) + 1)
        expected = found["expected"]
        axis.stairs(found["upper"] / expected, edges, baseline=found["lower"] / expected, fill=True, color="0.88")
        axis.axhline(1, color="0.5", linewidth=0.8, linestyle="--")
        axis.stairs(found["count"] / expected, edges, color=_MODEL)
        axis.set(title=f"{name} (p = {found['p_value']:.2g})", xlabel="rank", ylabel="count / expected", xlim=(0, 1))
        axis.set_ylim(bottom=0)
    for axis in flat[panels:]:
        axis.set_axis_off()
    return figure


def draw_comparison(comparison: Any) -> Any:
    """NLLs less that of the first method, best first, with their intervals; and how long a fit takes."""
    known = [each for each in comparison.methods if math.isfinite(each["nll"])]
    if not known:
        raise ValueError("there is nothing to draw yet: no method has a result")
    order = sorted(known, key=lambda each: 0 if math.isnan(each["difference"]) else each["difference"])
    names = [each["method"] for each in order]
    means = [0 if math.isnan(each["difference"]) else each["difference"] for each in order]
    spans = [0.5 * (each["upper"] - each["lower"]) for each in order]
    spans = [span if math.isfinite(span) else 0 for span in spans]
    figure, axes = _figure(1, 2, 3.6)
    places = np.arange(len(names))
    axes[0, 0].barh(places, means, xerr=spans, color=_PROXY, alpha=0.6, error_kw={"linewidth": 1, "capsize": 2})
    axes[0, 0].axvline(0, color="0.4", linewidth=0.8)
    first = comparison.methods[0]["method"]
    axes[0, 0].set(title=f"NLL less that of {first}", xlabel="nats a row; lower is better")
    axes[0, 1].barh(places, [each["processor_seconds"] for each in order], color=_DATA, alpha=0.6)
    axes[0, 1].set(title="processor time of a fit", xlabel="seconds", xscale="log")
    for axis in axes[0]:
        axis.set_yticks(places, names)
        axis.invert_yaxis()
    return figure


def draw_synthetic(check: Any) -> Any:
    """Columns and pairs: how far synthetic and real ones are apart; and distances to the closest training row."""
    columns, pairs = check._found["columns"], check._found["pairs"]
    names = [each["columns"][0] for each in columns]
    figure, axes = _figure(1, 3 if pairs else 2, 3.4)
    flat = list(axes[0])
    places = np.arange(len(names))
    flat[0].barh(places, [each["distance"] for each in columns], color=_MODEL, alpha=0.7, label="distance")
    flat[0].plot([each["chance"] for each in columns], places, "|", color="black", markersize=10, label="chance alone")
    flat[0].set_yticks(places, names)
    flat[0].invert_yaxis()
    flat[0].set(title="columns", xlabel="0 alike, 1 nothing in common")
    flat[0].legend(fontsize="x-small")
    if pairs:
        ratio = np.full((len(names), len(names)), np.nan)
        for each in pairs:
            a, b = (names.index(name) for name in each["columns"])
            ratio[a, b] = ratio[b, a] = each["distance"] / each["chance"]
        image = flat[1].imshow(ratio, vmin=0, vmax=max(2, float(np.nanmax(ratio))), cmap="RdBu_r")
        flat[1].set_xticks(places, names, rotation=90)
        flat[1].set_yticks(places, names)
        flat[1].set_title("pairs: distance / chance")
        figure.colorbar(image, ax=flat[1])
    most = float(np.quantile(np.concatenate([check.distances, check.real_distances]), 0.99))
    bins = np.linspace(0, max(most, 1e-9), 30)
    flat[-1].hist(check.real_distances, bins=bins, density=True, color=_DATA, alpha=0.4, label="real rows")
    flat[-1].hist(check.distances, bins=bins, density=True, color=_MODEL, histtype="step", label="synthetic rows")
    flat[-1].set(title="distance to the closest training row", xlabel="standard deviations")
    flat[-1].set_yticks([])
    flat[-1].legend(fontsize="x-small")
    return figure
