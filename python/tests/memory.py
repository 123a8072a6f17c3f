"""Crosses the border between Python and the library in every way, also with exceptions: for valgrind (./check --all)."""

import gc

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


def models():
    flow, proxy = (jf.SplineFlow(2, hidden=[4], transforms=1, seed=seed) for seed in (0, 1))
    flow.add_scores(X, np.ones(40)), flow.sample(8), flow.input_gradient(X)
    flow.parameters = flow.parameters
    trainer = jf.Trainer(flow, proxy, X, settings={"iterations": 2})
    del proxy
    gc.collect()
    trainer.step()


for part in (densities, tables, callbacks, posteriors, models):
    part()
    print(part.__name__, "done", flush=True)
