"""What notebooks show of densities, posteriors and checks."""

from __future__ import annotations

import html
import math
from typing import Any


def _table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th style='text-align:left'>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _nll(found: dict) -> str:
    if found.get("nll") is None or not found.get("rows"):
        return "-"
    error = found.get("standard_error")
    return f"{found['nll']:.3f}" + (f" ± {error:.3f}" if error is not None else "")


def _models(report: dict) -> str:
    rows = []
    for key, name in (("gaussian", "Gaussian"), ("main", "main"), ("proxy", "proxy")):
        if key in report:
            chosen = "used by default" if report.get("chosen") == key else ""
            rows.append([name, _nll(report[key]["held_out"]), _nll(report[key]["training"]), chosen])
    return _table(["model", "NLL, held out", "NLL, training", ""], rows)


def _curve(course: dict) -> str:
    """The held-out NLL over training as a line of SVG."""
    evaluations = course["evaluations"]
    if not evaluations or len(evaluations["iteration"]) < 2:
        return ""
    lines = []
    values = [v for v in [*evaluations["main"], *evaluations["proxy"]] if math.isfinite(v)]
    if not values:
        return ""
    low = min(values)
    high = sorted(values)[int(0.9 * (len(values) - 1))]
    width, height = 320, 90
    last = max(evaluations["iteration"])
    for key, color in (("main", "#c0392b"), ("proxy", "#1f6fb2")):
        points = [
            f"{width * i / last:.1f},{5 + (height - 10) * (1 - (min(v, high) - low) / max(high - low, 1e-12)):.1f}"
            for i, v in zip(evaluations["iteration"], evaluations[key])
            if math.isfinite(v)
        ]
        if points:
            lines.append(f"<polyline fill='none' stroke='{color}' stroke-width='1.5' points='{' '.join(points)}'/>")
    return (
        f"<svg width='{width}' height='{height}' role='img' aria-label='held-out NLL over training'>{''.join(lines)}</svg>"
        "<div style='font-size:smaller'>held-out NLL over training (<span style='color:#c0392b'>main</span>, "
        "<span style='color:#1f6fb2'>proxy</span>)</div>"
    )


def _list(title: str, items: list[str], most: int = 5) -> str:
    if not items:
        return ""
    shown = "".join(f"<li>{html.escape(item)}</li>" for item in items[:most])
    more = f"<li>and {len(items) - most} more</li>" if len(items) > most else ""
    return f"<details><summary>{len(items)} {title}</summary><ul>{shown}{more}</ul></details>"


def _fit(title: str, report: dict, course: dict) -> str:
    if not report:
        return f"<b>{html.escape(title)}</b>"
    return (
        f"<div><b>{html.escape(title)}</b><p>{html.escape(report.get('verdict', ''))}</p>{_models(report)}{_curve(course)}"
        f"{_list('warnings', report.get('warnings', []))}{_list('notes', report.get('notes', []), 20)}</div>"
    )


def of_density(density: Any) -> str:
    if not hasattr(density, "_density"):
        return f"<code>{html.escape(repr(density))}</code> (not fitted)"
    return _fit(repr(density), density.report_, density.course())


def of_posterior(posterior: Any) -> str:
    return _fit(repr(posterior), posterior.report_, posterior.course())


def of_check(check: Any) -> str:
    rows = [[f"ranks of {name}", f"{found['p_value']:.3g}", found["calibration"]] for name, found in check.sbc["parameters"].items()]
    rows += [
        [name, f"{found['p_value']:.3g}", found["verdict"]]
        for name, found in (("highest-density coverage", check.coverage), ("TARP", check.tarp))
    ]
    return f"<div><b>Check of a posterior</b><p>{html.escape(check.verdict)}</p>{_table(['test', 'p-value', 'finding'], rows)}</div>"


def of_comparison(comparison: Any) -> str:
    from .comparison import difference_text

    rows = [
        [m["method"], f"{m['nll']:.3f}", difference_text(m), str(m["splits"]), f"{m['wall_seconds']:.2g}", m["definition"]]
        for m in comparison.methods
    ]
    first = comparison.methods[0]["method"] if rows else ""
    table = _table(["method", "NLL", f"less {first}", "splits", "seconds a fit", "what it is"], rows)
    return (
        f"<div><b>{html.escape(comparison.verdict)}</b><p>{comparison.training_rows} rows to learn from, {comparison.test_rows} "
        f"to judge by; 95 % intervals</p>{table}{_list('notes', comparison.notes)}</div>"
    )


def of_synthetic(check: Any) -> str:
    def beyond(shapes: list[dict]) -> str:
        return f"{sum(s['distance'] > s['chance'] for s in shapes)} of {len(shapes)} beyond chance"

    found = check._found
    rows = [
        ["columns", beyond(found["columns"])],
        ["pairs of columns", beyond(found["pairs"])],
        ["classifier", f"right in {100 * check.c2st:.1f} ± {100 * check.c2st_standard_error:.1f} % of rows (guessing: 50 %)"],
        ["copies", f"{len(check.copies)} rows equal a training row ({check.real_copies} real rows do)"],
        ["close rows", f"{100 * check.too_close / len(check.distances):.1f} % are closer to one than 5 % of real rows are"],
    ]
    return f"<div><b>{html.escape(check.verdict)}</b>{_table(['test', 'finding'], rows)}{_list('warnings', check.warnings)}</div>"
