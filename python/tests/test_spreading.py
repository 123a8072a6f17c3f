"""Simulations on several workers, one of which dies."""

import os
import signal

import joblib
import numpy as np
import pytest

import jeffreys as jf

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


def test_dask_goes_on_where_a_worker_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed")
    expected = jf.simulate(noisy, PRIOR, 600, rows_per_call=50)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster, distributed.Client(cluster):
        with joblib.parallel_backend("dask"):
            found = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 600, rows_per_call=50, n_jobs=2, journal=tmp_path / "j")
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(found.x, expected.x)
    assert found.report["failed"] == 0
    again = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 600, rows_per_call=50, journal=tmp_path / "j")
    assert again.report["resumed"] == 600


def test_a_journal_keeps_what_was_done_when_a_process_dies(tmp_path):
    """joblib's own processes do not come back by themselves: the call fails, and the same call goes on."""
    calls = {"rows_per_call": 50, "n_jobs": 2, "journal": tmp_path / "j"}
    try:
        found = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 400, **calls)
    except Exception:
        found = jf.simulate(Deadly(tmp_path / "killed"), PRIOR, 400, **calls)
    np.testing.assert_array_equal(found.x, jf.simulate(noisy, PRIOR, 400, rows_per_call=50).x)
