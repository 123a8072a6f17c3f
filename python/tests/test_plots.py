"""Figures and what notebooks show. What they look like was looked at; here, that they hold what they should."""

import numpy as np
import pytest

import jeffreys as jf
from conftest import quick


@pytest.fixture
def saved(tmp_path):
    def save(figure):
        figure.savefig(tmp_path / "f.png")
        assert (tmp_path / "f.png").stat().st_size > 5000
        return figure

    return save


def titles(figure):
    return [axis.get_title() for axis in figure.axes]


def test_two_columns_are_a_density_map(plane, saved):
    d = quick().fit(plane)
    figure = saved(d.plot(plane))
    assert titles(figure)[:3] == ["data", "main model", "proxy model"]
    grid = figure.axes[1].images[0].get_array()
    x0, x1, y0, y1 = figure.axes[1].images[0].get_extent()
    assert grid.sum() * (x1 - x0) * (y1 - y0) / grid.size == pytest.approx(1, abs=0.1)
    assert titles(saved(quick(method="mle").fit(plane).plot()))[:1] == ["main model"]


def test_other_tables_are_pair_plots(frame, fitted, saved):
    assert len(fitted.plot(frame).axes) == 64
    figure = saved(fitted.plot(frame, columns=["height", "site", "seen"]))
    assert len(figure.axes) == 9 and "3 of 8 columns" in figure._suptitle.get_text()
    with pytest.raises(ValueError, match="no column 'x'"):
        fitted.plot(columns=["x"])
    by_site = quick(condition=["site"]).fit(frame[["height", "age", "site"]])
    saved(by_site.plot(given={"site": "north"}))
    assert len(saved(by_site.plot(frame[["height", "age", "site"]])).axes) == 4
    with pytest.raises(ValueError, match="conditional on site"):
        by_site.plot()


def test_training_has_curves(fitted, plane, saved):
    assert len(saved(fitted.plot_training()).axes) == 3
    assert len(saved(quick(method="mle").fit(plane).plot_training()).axes) == 1


def test_posteriors_and_checks_are_drawn(saved):
    prior = jf.Prior(a=jf.Uniform(0, 1), b=jf.Uniform(0, 1))
    theta, x = jf.simulate(lambda t, rng: t + 0.1 * rng.normal(size=t.shape), prior, 200)
    npe = jf.NPE(prior, members=1, settings={"iterations": 50, "flow.transforms": 1}, verbose=False)
    post = npe.append_simulations(theta, x).train().build_posterior()
    figure = saved(post.plot(x=[0.5, 0.5], truth=[0.4, 0.6], samples=2000))
    assert figure.axes[0].get_title().startswith("a\n")
    with pytest.raises(ValueError, match="truth: expected 2"):
        post.plot(x=[0.5, 0.5], truth=[1])
    check = post.check(theta[:50], x[:50], num_posterior_samples=50, verbose=False)
    assert titles(saved(check.plot()))[:2] == ["highest-density regions", "TARP"]
    assert check.verdict[:20] in check._repr_html_()
    assert "<table>" in post._repr_html_()


def test_notebooks_show_verdict_table_and_curve(fitted):
    page = fitted._repr_html_()
    assert fitted.report_["verdict"][:30] in page and "<table>" in page and "<svg" in page
    assert "not fitted" in jf.Density()._repr_html_()
    named = quick().fit(np.random.default_rng(0).normal(size=(60, 1)))
    named.report_["verdict"] = "<script>"
    assert "<script>" not in named._repr_html_()
