"""Figures of posteriors, checks and comparisons by matplotlib, of the library's numbers and drawn like the program's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .plots import DATA, MODEL, MOST_COLUMNS, PROXY, new_figure


def draw_posterior(samples: np.ndarray, names: list[str], truth: Any, prior: Any) -> Any:
    """Every parameter against every other with the smallest regions of 50 and 90 %, each alone on the diagonal."""
    count = min(len(names), MOST_COLUMNS)
    truth = None if truth is None else np.asarray(truth, dtype=float).ravel()
    if truth is not None and len(truth) != len(names):
        raise ValueError(f"truth: expected {len(names)} numbers, got {len(truth)}")
    figure, axes = new_figure(count, count, 2.4)
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
                axis.axvline(truth[j], color=MODEL, linewidth=0.9)
                if i != j:
                    axis.axhline(truth[i], color=MODEL, linewidth=0.9)
            axis.tick_params(labelbottom=i == count - 1, labelleft=j == 0 and i > 0)
            if i == count - 1:
                axis.set_xlabel(names[j])
            if j == 0 and i > 0:
                axis.set_ylabel(names[i])
    if count > 1:
        words = "regions of 50 and 90 %\nmedian (5 % to 95 %)" + ("" if truth is None else "\nred: the truth")
        axes[0, -1].text(0.5, 0.6, words, ha="center", fontsize="small", color="0.3", transform=axes[0, -1].transAxes)
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
    axis.hist(values, bins=bins, range=ends, density=True, color=PROXY, alpha=0.35, histtype="stepfilled")
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
    axis.contour(*centres, smooth.T, levels=[most, half], colors=[PROXY], linewidths=0.8)


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
    figure, axes = new_figure(-(-panels // columns), columns, 2.8)
    flat = list(axes.flat)
    for axis, curve, title in ((flat[0], check.coverage, "highest-density regions"), (flat[1], check.tarp, "TARP")):
        credibility = curve["credibility"]
        axis.fill_between(
            credibility, np.clip(credibility - curve["band"], 0, 1), np.clip(credibility + curve["band"], 0, 1), color="0.88"
        )
        axis.plot([0, 1], [0, 1], color="0.5", linewidth=0.8, linestyle="--")
        axis.plot(credibility, curve["coverage"], color=MODEL)
        axis.set(title=title, xlabel="credibility", ylabel="coverage", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axis.text(0.04, 0.93, "under-confident", fontsize="x-small", color="0.4")
        axis.text(0.96, 0.04, "over-confident", fontsize="x-small", color="0.4", ha="right")
    for axis, (name, found) in zip(flat[2:], parameters):
        edges = np.linspace(0, 1, len(found["count"]) + 1)
        expected = found["expected"]
        axis.stairs(found["upper"] / expected, edges, baseline=found["lower"] / expected, fill=True, color="0.88")
        axis.axhline(1, color="0.5", linewidth=0.8, linestyle="--")
        axis.stairs(found["count"] / expected, edges, color=MODEL)
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
    figure, axes = new_figure(1, 2, 3.6)
    places = np.arange(len(names))
    axes[0, 0].barh(places, means, xerr=spans, color=PROXY, alpha=0.6, error_kw={"linewidth": 1, "capsize": 2})
    axes[0, 0].axvline(0, color="0.4", linewidth=0.8)
    first = comparison.methods[0]["method"]
    axes[0, 0].set(title=f"NLL less that of {first}", xlabel="nats a row; lower is better")
    axes[0, 1].plot([each["processor_seconds"] for each in order], places, "o", color=DATA)
    axes[0, 1].set(title="processor time of a fit", xlabel="seconds", xscale="log", ylim=axes[0, 0].get_ylim())
    axes[0, 1].grid(axis="y", color="0.9")
    for axis in axes[0]:
        axis.set_yticks(places, names)
        axis.invert_yaxis()
    return figure


def draw_synthetic(check: Any) -> Any:
    """Columns and pairs: how far synthetic and real ones are apart; and distances to the closest training row."""
    columns, pairs = check._found["columns"], check._found["pairs"]
    names = [each["columns"][0] for each in columns]
    figure, axes = new_figure(1, 3 if pairs else 2, 3.4)
    flat = list(axes[0])
    places = np.arange(len(names))
    flat[0].barh(places, [each["distance"] for each in columns], color=MODEL, alpha=0.7, label="distance")
    flat[0].plot([each["chance"] for each in columns], places, "|", color="black", markersize=10, label="chance alone")
    flat[0].set_yticks(places, names)
    flat[0].invert_yaxis()
    flat[0].set(title="columns", xlabel="0 alike, 1 nothing in common")
    most = max([*(each["distance"] for each in columns), *(each["chance"] for each in columns)])
    flat[0].set_xlim(0, 1.1 * most)
    flat[0].locator_params(axis="x", nbins=4)
    flat[0].legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)
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
    flat[-1].hist(check.real_distances, bins=bins, density=True, color=DATA, alpha=0.4, label="real rows")
    flat[-1].hist(check.distances, bins=bins, density=True, color=MODEL, histtype="step", label="synthetic rows")
    flat[-1].set(title="closest training row", xlabel="distance in standard deviations")
    flat[-1].set_yticks([])
    flat[-1].legend(fontsize="x-small")
    return figure
