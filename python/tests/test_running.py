"""Long work: progress, Ctrl-C, threads, forks, and what an import costs."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import jeffreys as jf
from conftest import QUICK, quick

LONG = {**QUICK, "iterations": 1_000_000, "validation.patience": 0, "validation.relative_patience": 0}


def interrupted(work, seconds=0.4, when=lambda: True):
    """Interrupts the work after this time and once it is so far, and returns what was raised. It ends within a second of
    processor time after the signal, all threads together, which other work on the machine does not change."""
    sent = []

    def interrupt():
        while not when():
            time.sleep(0.001)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(seconds, interrupt).start()
    with pytest.raises(KeyboardInterrupt) as raised:
        work()
    assert time.process_time() - sent[0] < 1
    return str(raised.value)


def test_control_c_ends_a_fit_and_keeps_a_checkpoint(plane, tmp_path):
    d = quick(settings=LONG, checkpoint=tmp_path / "fit.checkpoint")
    assert "resume=True" in interrupted(lambda: d.fit(plane))
    assert (tmp_path / "fit.checkpoint").exists()
    assert not hasattr(d, "report_")
    with pytest.raises(jf.InputError, match="unfinished"):
        d.fit(plane)
    finished = d.set_params(settings={**LONG, "time_limit": 0.1}).fit(plane, resume=True)
    assert finished.report_["stop_reason"] == "time_limit"
    assert not (tmp_path / "fit.checkpoint").exists()


def noisy(theta, rng):
    return theta + 0.1 * rng.normal(size=theta.shape)


@pytest.mark.parametrize("options", [{"method": "dual"}, {"proxy": "energy"}, {"members": "auto"}], ids=str)
def test_control_c_ends_fits_of_many_columns(options, wide):
    assert "fit.checkpoint is saved" in interrupted(lambda: jf.Density(**options, verbose=False, n_jobs=2).fit(wide))


@pytest.fixture(scope="module")
def wide():
    return np.random.default_rng(0).normal(size=(3000, 20))


def test_control_c_ends_the_weighing_of_members_and_keeps_them(tmp_path):
    """Fits of three steps are done in a moment; the mixtures of Gaussians beside them take longer, with so many rows."""
    many = np.random.default_rng(1).normal(size=(12_000, 20))
    settings = {"iterations": 3, "flow.transforms": 1, "flow.hidden": [8]}
    d = jf.Density(settings=settings, n_jobs=2, verbose=False, checkpoint=tmp_path / "c")
    told, members = [], tmp_path / "c.members"
    d.set_params(callback=lambda progress: told.append(progress["label"]))
    interrupted(lambda: d.fit(many), seconds=0, when=lambda: len(list(members.glob("*.model"))) == 10)
    assert told and len(list(members.glob("*.model"))) == 10
    told.clear()
    d.fit(many, resume=True)
    assert not told  # nothing is fitted twice
    assert not members.exists()


@pytest.mark.parametrize("members", ["auto", 1])
def test_control_c_ends_the_training_of_a_posterior(members):
    prior = jf.Prior(a=jf.Uniform(0, 1), b=jf.Uniform(0, 1))
    npe = jf.NPE(prior, members=members, settings=LONG, verbose=False, n_jobs=2).append_simulations(*jf.simulate(noisy, prior, 2000))
    assert "train(resume=True) goes on" in interrupted(npe.train)


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}])
def test_control_c_ends_simulations_and_the_journal_keeps_them(options, tmp_path):
    prior = jf.Prior(a=jf.Uniform(0, 1))
    seconds, journal = [0.05], tmp_path / "j"

    def slow(theta):
        time.sleep(seconds[0])
        return theta

    def has_begun():
        return journal.exists() and journal.stat().st_size > 1000

    interrupted(lambda: jf.simulate(slow, prior, 5000, rows_per_call=5, journal=journal, **options), when=has_begun)
    seconds[0] = 0
    whole = jf.simulate(slow, prior, 5000, rows_per_call=5, journal=journal)
    assert 0 < whole.report["resumed"] < 5000 and len(whole.x) == 5000


def test_control_c_ends_a_command_that_simulates(tmp_path):
    prior = jf.Prior(a=jf.Uniform(0, 1))
    interrupted(lambda: jf.simulate("sh -c 'sleep 60; cat'", prior, 20, rows_per_call=10, n_jobs=2, journal=tmp_path / "j"))


@pytest.mark.parametrize("method", ["default", "dual", "mixture", "kde"])
def test_control_c_ends_a_comparison(method, wide, tmp_path):
    interrupted(lambda: jf.compare(wide, [method], verbose=False, n_jobs=2, folder=tmp_path / "c"))


def test_control_c_ends_a_check_and_a_trainer(wide):
    prior = jf.Prior(a=jf.Uniform(0, 1))
    npe = jf.NPE(prior, members=1, settings=QUICK, verbose=False).append_simulations(*jf.simulate(noisy, prior, 200))
    post, pairs = npe.train().build_posterior(), jf.simulate(noisy, prior, 20_000, seed=1)
    interrupted(lambda: post.check(*pairs, num_posterior_samples=5000, verbose=False))
    trainer = jf.Trainer(jf.SplineFlow(20), None, wide.astype(np.float32), settings={"iterations": 1_000_000})
    interrupted(lambda: trainer.run(verbose=False))


def test_a_resumed_fit_is_as_if_nothing_had_happened(plane):
    class Enough(Exception):
        pass

    def stop(progress):
        if progress["iteration"] > 1:
            raise Enough

    settings = {**LONG, "iterations": 600}
    d = quick(settings=settings, callback=stop)
    with pytest.raises(Enough):
        d.fit(plane)
    d.set_params(callback=None).fit(plane, resume=True)
    np.testing.assert_array_equal(d.score_samples(plane), quick(settings=settings).fit(plane).score_samples(plane))


def test_callbacks_are_told_the_progress(plane):
    told = []
    quick(callback=told.append).fit(plane)
    assert told[-1]["iteration"] == told[-1]["iterations"] == 60
    assert {"label", "nll", "validation", "validation_proxy", "balance"} <= set(told[-1])


def test_progress_is_shown_where_it_is_asked_for(plane, capfd):
    quick(verbose=True).fit(plane)
    assert "fit:" in capfd.readouterr().err
    quick(verbose="auto").fit(plane)
    assert capfd.readouterr().err == ""


def test_progress_without_tqdm(plane, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    quick(verbose=True).fit(plane)
    assert "fit 60/60" in capfd.readouterr().err


def test_other_threads_run_during_a_fit(plane):
    """The GIL is released: this thread counts on while the other one fits."""
    fit = threading.Thread(target=quick(settings={**LONG, "iterations": 600}).fit, args=(plane,))
    fit.start()
    turns = 0
    while fit.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 5


def test_threads_may_ask_one_density_at_a_time(plane):
    d = quick(n_jobs=2).fit(plane)
    expected = d.score_samples(plane)
    wrong = []

    def ask():
        for _ in range(20):
            if not np.array_equal(d.score_samples(plane), expected):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    d.set_params(n_jobs=3)
    for thread in threads:
        thread.join()
    assert not wrong


def score_in_child(d, plane, queue):
    queue.put((d.score(plane), quick(n_jobs=2).fit(plane).score(plane)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_forked_processes_have_threads_of_their_own(n_jobs, plane):
    d = quick(n_jobs=n_jobs).fit(plane)
    expected = d.score(plane)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=score_in_child, args=(d, plane, queue))
    child.start()
    assert queue.get(timeout=60) == (expected, expected)
    child.join(60)
    assert child.exitcode == 0
    assert d.score(plane) == expected


def test_the_import_brings_nothing_heavy():
    code = "import sys, jeffreys; print(*[m for m in ('pandas', 'sklearn', 'matplotlib', 'torch', 'scipy', 'tqdm', 'joblib') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_a_wrong_use_never_ends_the_interpreter(plane):
    from jeffreys import _core

    d = quick().fit(plane)._density
    for arguments in [(), (None,), (None, None, 1), ("x", None, -1), (_core.Table([], "X"), None, 1)]:
        with pytest.raises((TypeError, ValueError)):
            d.log_prob(*arguments)
    with pytest.raises((TypeError, ValueError)):
        _core.Table([("a", np.arange(3), ["x"])], "X")
    with pytest.raises(TypeError):
        _core.Density()
