"""Simulations and fits on several workers, one of which dies."""

import os
import signal

import joblib
import numpy as np
import pytest

import jeffreys as jf
from conftest import QUICK, quick

PRIOR = jf.Prior(a=jf.Uniform(-1, 1))


def noisy(theta, rng):
    return theta + rng.normal(size=theta.shape)


def noisy_and_deadly(theta, rng, marker=None):
    """Kills its worker once."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return noisy(theta, rng)
    os.kill(os.getpid(), signal.SIGKILL)


class Deadly:
    def __init__(self, marker):
        self.marker = str(marker)

    def __call__(self, theta, rng):
        return noisy_and_deadly(theta, rng, self.marker)


def test_a_journal_keeps_what_was_done_when_a_process_dies(tmp_path):
    """joblib's own processes do not come back by themselves: the call fails, and the same call goes on."""
    calls = {"rows_per_call": 50, "n_jobs": 2, "journal": tmp_path / "j"}
    try:
        found = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 400, **calls)
    except Exception:
        found = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 400, **calls)
    np.testing.assert_array_equal(found.x, jf.simulate(noisy, PRIOR, 400, rows_per_call=50).x)


def kill_once(marker):
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path)}
    with distributed.LocalCluster(**options) as made, distributed.Client(made):
        yield made


def test_simulations_are_tasks_of_dask_also_where_a_worker_is_killed(cluster, tmp_path):
    """Calls of more than a thousand bytes, which joblib would leave with the worker that dies."""
    expected = jf.simulate(noisy, PRIOR, 1200, rows_per_call=150)
    calls = {"rows_per_call": 150, "journal": tmp_path / "j"}
    with joblib.parallel_backend("dask"):
        found = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 1200, n_jobs=2, **calls)
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(found.x, expected.x)
    assert found.report["failed"] == 0
    again = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 1200, **calls)
    assert again.report["resumed"] == 1200


def test_members_of_a_density_are_tasks_of_dask_also_where_a_worker_is_killed(plane, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("jeffreys.density._fit_member", Killing(tmp_path / "killed"))
    expected = quick(members=4).fit(plane)
    with joblib.parallel_backend("dask"):
        found = quick(members=4).fit(plane)
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(found.score_samples(plane), expected.score_samples(plane))
    np.testing.assert_array_equal(found.sample(50), expected.sample(50))
    assert found.report_["verdict"] == expected.report_["verdict"]


class Killing:
    """Does a task as the package does, but kills the first process that is asked to."""

    def __init__(self, marker, module="jeffreys.density", task="_fit_member"):
        self.marker, self.module, self.task = str(marker), module, task

    def __call__(self, *arguments):
        import importlib

        kill_once(self.marker)
        return getattr(importlib.import_module(self.module), self.task)(*arguments)


def test_fits_of_a_comparison_are_tasks_of_dask_also_where_a_worker_is_killed(plane, cluster, tmp_path, monkeypatch):
    some = {"methods": ["mle", "gaussian"], "splits": 2, "settings": QUICK, "verbose": False}
    expected = jf.compare(plane, **some)
    monkeypatch.setattr("jeffreys.comparison._task", Killing(tmp_path / "killed", "jeffreys.comparison", "_task"))
    with joblib.parallel_backend("dask"):
        found = jf.compare(plane, **some)
    assert (tmp_path / "killed").exists()
    assert [(m["method"], m["nll"], m["splits"]) for m in found.methods] == [
        (m["method"], m["nll"], m["splits"]) for m in expected.methods
    ]


def test_members_of_a_posterior_are_tasks_of_joblib():
    theta, x = jf.simulate(noisy, PRIOR, 200)

    def trained():
        npe = jf.NPE(PRIOR, members=3, settings=QUICK, verbose=False, n_jobs=1)
        return npe.append_simulations(theta, x).train().build_posterior()

    expected = trained()
    with joblib.parallel_backend("loky", n_jobs=2):
        found = trained()
    np.testing.assert_array_equal(found.sample((50,), x=[0.3]), expected.sample((50,), x=[0.3]))
    assert found.report_["committee"] == expected.report_["committee"]


def test_members_that_are_done_are_kept_when_a_process_dies(plane, tmp_path, monkeypatch):
    """joblib's own processes do not come back: the call fails, and with resume=True it goes on."""
    expected = quick(members=6).fit(plane).score_samples(plane)
    d = quick(members=6, checkpoint=tmp_path / "c")
    monkeypatch.setattr("jeffreys.density._fit_member", Killing(tmp_path / "killed"))
    with joblib.parallel_backend("loky", n_jobs=2):
        try:
            d.fit(plane)
        except Exception:
            d.fit(plane, resume=True)
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(d.score_samples(plane), expected)
    assert not (tmp_path / "c.members").exists()


def test_unfinished_members_are_not_used_unasked(plane, tmp_path):
    d = quick(members=4, checkpoint=tmp_path / "c")
    (tmp_path / "c.members").mkdir()
    with joblib.parallel_backend("loky", n_jobs=2), pytest.raises(jf.InputError, match="unfinished fit: go on with resume=True"):
        d.fit(plane)


def test_workers_do_not_spread_their_own_work(plane):
    """Searches in processes fit densities of several members there, each by itself."""
    from sklearn.model_selection import cross_val_score

    alone = cross_val_score(quick(members=4), plane, cv=2)
    with joblib.parallel_backend("loky", n_jobs=2):
        np.testing.assert_array_equal(cross_val_score(quick(members=4), plane, cv=2), alone)
