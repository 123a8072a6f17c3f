"""Crosses the border between Python and the library in every way, also with exceptions: for valgrind (./check --all)."""

import gc
import pickle
import tempfile
from pathlib import Path

import numpy as np

import jeffreys as jf
from jeffreys import _core

X = np.random.default_rng(0).normal(size=(40, 2))
SMALL = {"iterations": 3, "flow.transforms": 1, "flow.hidden": 4}


def refused(call):
    try:
        call()
    except ValueError:
        return
    raise AssertionError("this should have been refused")


def densities():
    d = jf.Density(settings=SMALL, n_jobs=2, verbose=False).fit(X)
    d.score_samples(X), d.percentile(X), d.evaluate(X), d.explain(X[:1])
    samples, course = d.sample(5), d.course()
    refused(lambda: d.score_samples(X[:, :1]))
    del d
    gc.collect()
    assert samples.shape == (5, 2) and course["steps"]["nll"].size > 0


def tables():
    table = _core.Table([("a", np.arange(12.0)), ("b", np.arange(12) % 2, ["u", "v"])], "X")
    columns = table.take_columns()
    del table
    gc.collect()
    assert columns[0][1].sum() == 66 and columns[1][2] == ["u", "v"]
    refused(lambda: _core.Table([("a", np.arange(3), ["x"])], "X"))
    refused(lambda: _core.Table([("a", np.arange(3.0)), ("b", np.arange(4.0))], "X"))


def questions():
    """What a density is asked beside scores and samples, and how members and missing cells come in."""
    rows = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    rows[np.isnan(rows).all(axis=1)] = 0
    d = jf.Density(settings=SMALL, members=1, missing="keep", n_jobs=1, verbose=False).fit(rows)
    d.score_samples(X, columns=["x1"], given=["x2"]), d.sample(4, given={"x1": 0.5})
    d._density.describe_rows(d._table(rows), None, 1)  # the method of Density would import pandas
    filled = d.impute(rows, draws=2)
    assert np.isfinite(filled[1]).all()
    check = d.check_synthetic(d.sample(30), X)
    d.fit(X, sample_weight=np.arange(40.0)).evaluate(X, np.arange(40.0))
    refused(lambda: d.sample(3, given={"x1": "high"}))
    again = pickle.loads(pickle.dumps(d))
    np.testing.assert_array_equal(again.score_samples(X), d.score_samples(X))
    held_out = d.held_out_
    del d, again
    gc.collect()
    assert len(check.distances) == 30 and held_out.sum() > 0


def members():
    """One fit of several by itself, as another process makes it, and all of them from their files."""
    table, columns = _core.Table(X, [], "X"), {"condition": [], "categorical": [], "integer": [], "ignore": []}
    settings = [(key, str(value), key) for key, value in {**SMALL, "members": 2, "simple": "false"}.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "c"))
        Path(path + ".members").mkdir()
        for member in range(_core.table_members(table, columns, settings, "")):
            _core.fit_member(table, columns, settings, "", path + ".members", member, 1)
        density, report, held_out = _core.fit_table(table, columns, settings, "", "X", 1, path, True, None)
    assert density.log_prob(table, None, 1).shape == (40,) and not len(held_out)


def comparisons():
    found = jf.compare(X, ["gaussian", "kde"], splits=2, n_jobs=1, verbose=False)
    assert len(found.methods) == 2
    refused(lambda: jf.compare(X, ["best"]))


def diagnostics():
    samples = np.random.default_rng(2).normal(size=(30, 20, 2))
    ranks = jf.diagnostics.sbc_ranks(samples[:, 0], samples, log_prob=samples[:, 0, 0], sample_log_prob=samples[:, :, 0])
    jf.diagnostics.sbc(ranks), jf.diagnostics.tarp(ranks), jf.diagnostics.coverage(ranks)
    jf.diagnostics.c2st(X[:20], X[20:], folds=2)
    refused(lambda: jf.diagnostics.c2st(X, X[:, :1]))


def callbacks():
    class Enough(Exception):
        pass

    def stop(progress):
        raise Enough

    try:
        jf.Density(settings={**SMALL, "iterations": 50}, callback=stop, n_jobs=1).fit(X)
    except Enough:
        return
    raise AssertionError("the exception of the callback is lost")


def posteriors():
    prior = jf.Prior(a=jf.Uniform(0, 1))
    theta, x = jf.simulate(lambda t: 2 * t + 0.1 * np.sin(99 * t), prior, 60, rows_per_call=20)
    post = jf.NPE(prior, members=1, settings=SMALL, n_jobs=1, verbose=False).append_simulations(theta, x).train().build_posterior()
    post.log_prob(post.sample((9,), x=[1.0]), x=[1.0]), post.map(x=[1.0], num_init_samples=20)
    post.check(theta[:20], x[:20], num_posterior_samples=20, verbose=False)
    again = pickle.loads(pickle.dumps(post))
    np.testing.assert_array_equal(again.sample_batched((3,), x=x[:2]), post.sample_batched((3,), x=x[:2]))
    prior.log_prob(theta), refused(lambda: post.sample((3,), x=[1e9]))

    def broken(t):
        raise RuntimeError("broken")

    refused(lambda: jf.simulate(broken, prior, 20))


def models():
    flow, proxy = (jf.SplineFlow(2, hidden=[4], transforms=1, seed=seed) for seed in (0, 1))
    flow.add_scores(X, np.ones(40)), flow.sample(8), flow.input_gradient(X)
    flow.parameters = flow.parameters
    trainer = jf.Trainer(flow, proxy, X, settings={"iterations": 2})
    del proxy
    gc.collect()
    trainer.step()
    with tempfile.TemporaryDirectory() as folder:
        trainer.save(Path(folder, "t"))
        trainer.resume(Path(folder, "t")).run(verbose=False)
    again = jf.SplineFlow.from_zuko(flow.to_zuko())
    np.testing.assert_allclose(again.log_prob(X), flow.log_prob(X), rtol=1e-4)
    refused(lambda: jf.SplineFlow.from_zuko({"a": np.ones(3)}))
    energy = jf.EnergyModel(2, hidden=4, blocks=1)
    energy.log_unnormalized(X), jf.Trainer(pickle.loads(pickle.dumps(flow)), energy, X, settings={"iterations": 1}).step()


for part in (densities, tables, questions, members, comparisons, diagnostics, callbacks, posteriors, models):
    part()
    print(part.__name__, "done", flush=True)
