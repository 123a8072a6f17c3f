"""Priors, simulations, posteriors and their checks, with the verbs of sbi."""

import os
import pickle
import threading
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import jeffreys as jf
from conftest import set_options

PRIOR = jf.Prior(a=jf.Uniform(-1, 1), b=jf.Normal(0, 1, lower=-2, upper=2))
QUICK = {"iterations": 150, "flow.transforms": 1, "flow.hidden": [16]}


def noisy(theta, rng):
    """Outcomes are parameters with noise."""
    return theta + 0.2 * rng.normal(size=theta.shape)


def quick_npe(prior=PRIOR, **options):
    return jf.NPE(prior, **{"settings": QUICK, "members": 1, "verbose": False, "n_jobs": 1, **options})


@pytest.fixture(scope="module")
def pairs():
    return jf.simulate(noisy, PRIOR, 400, seed=1)


@pytest.fixture(scope="module")
def posterior(pairs):
    return quick_npe().append_simulations(*pairs).train().build_posterior()


class TestPrior:
    def test_draws_stay_inside_and_have_the_density_of_scipy(self):
        draws = PRIOR.sample((1000,), seed=3)
        assert (np.abs(draws) <= [1, 2]).all()
        expected = np.log(0.5) + scipy.stats.truncnorm(-2, 2).logpdf(draws[:, 1])
        np.testing.assert_allclose(PRIOR.log_prob(draws), expected)
        assert PRIOR.log_prob([[2, 0]])[0] == -np.inf
        assert PRIOR.sample(5).shape == (5, 2) and PRIOR.sample((2, 3)).shape == (2, 3, 2) and PRIOR.sample().shape == (2,)

    def test_frozen_distributions_are_read(self):
        stats = scipy.stats
        prior = jf.Prior(
            u=stats.uniform(1, 2), n=stats.norm(loc=3, scale=4), t=stats.truncnorm(-1, 2, loc=1, scale=3), g=stats.lognorm(0.5, scale=2)
        )
        assert prior == jf.Prior(u=jf.Uniform(1, 3), n=jf.Normal(3, 4), t=jf.Normal(1, 3, -2, 7), g=jf.LogNormal(np.log(2), 0.5))

    def test_files_and_copies(self, tmp_path):
        (tmp_path / "p.toml").write_text(PRIOR.to_toml())
        assert jf.Prior.read(tmp_path / "p.toml") == PRIOR == pickle.loads(pickle.dumps(PRIOR))
        assert repr(PRIOR) == "Prior(a=Uniform(-1, 1), b=Normal(0, 1, lower=-2, upper=2))"

    @pytest.mark.parametrize("wrong, kind, message", [
        ({"a": 3}, TypeError, "'a' is no distribution"),
        ({"a": scipy.stats.beta(1, 2)}, ValueError, "scipy.stats.beta is not known.*uniform"),
        ({"a": jf.Uniform(1, 0)}, jf.InputError, "a"),
        ({}, jf.InputError, "expected one or more"),
    ])  # fmt: skip
    def test_what_is_no_prior_is_refused(self, wrong, kind, message):
        with pytest.raises(kind, match=message):
            jf.Prior(wrong)
        with pytest.raises(TypeError, match="prior: expected"):
            jf.NPE(3)


class TestSimulate:
    def test_the_seed_decides_everything(self, pairs):
        theta, x = jf.simulate(noisy, PRIOR, 400, seed=1)
        np.testing.assert_array_equal(theta, pairs.theta)
        np.testing.assert_array_equal(x, pairs.x)
        assert not np.array_equal(jf.simulate(noisy, PRIOR, 400, seed=2).x, x)
        assert pairs.report["simulated"] == 400
        assert pairs.parameter_names == ["a", "b"] and pairs.outcome_names == ["x1", "x2"]

    def test_processes_change_nothing(self, pairs):
        np.testing.assert_array_equal(jf.simulate(noisy, PRIOR, 400, seed=1, n_jobs=2, rows_per_call=100).x, pairs.x)

    def test_one_row_at_a_time(self):
        theta, x = jf.simulate(lambda row: row.sum(), PRIOR, 30, vectorized=False)
        np.testing.assert_allclose(x[:, 0], theta.sum(axis=1))
        np.testing.assert_array_equal(*(v for v in (jf.simulate(np.exp, PRIOR, 30).x, np.exp(theta))))

    def test_a_command_is_run_as_by_the_program(self, program):
        (program.folder / "p.toml").write_text(PRIOR.to_toml())
        command = "awk -F, '{print $1 + $2, $1 * $2}'"
        program("sbi", "simulate", "--simulator", command, "--prior", "p.toml", "-n", 250, "-o", "pairs.csv", "--seed", 4)
        theirs = pd.read_csv(program.folder / "pairs.csv", float_precision="round_trip")
        ours = jf.simulate(command, PRIOR, 250, seed=4)
        np.testing.assert_array_equal(np.hstack(ours), theirs)
        # The program's journal goes on here.
        more = jf.simulate(command, PRIOR, 300, seed=4, journal=program.folder / "pairs.csv.journal")
        assert more.report["resumed"] == 250
        np.testing.assert_array_equal(more.x[:250], ours.x)

    def test_a_journal_goes_on_after_an_interruption(self, tmp_path):
        calls = []

        def slow(theta):
            calls.append(len(theta))
            if len(calls) == 4:
                os.kill(os.getpid(), signal.SIGINT)
                threading.Event().wait(0.5)
            return theta

        with pytest.raises(KeyboardInterrupt):
            jf.simulate(slow, PRIOR, 1000, rows_per_call=50, journal=tmp_path / "j")
        done = len(calls)
        assert done < 10
        whole = jf.simulate(slow, PRIOR, 1000, rows_per_call=50, journal=tmp_path / "j")
        assert whole.report["resumed"] >= 150
        np.testing.assert_array_equal(whole.theta, whole.x)
        with pytest.raises(jf.InputError, match="seed"):
            jf.simulate(slow, PRIOR, 1000, rows_per_call=50, journal=tmp_path / "j", seed=9)

    def test_rows_that_fail_are_left_out_and_counted(self):
        def fragile(theta):
            if (theta[:, 0] > 0.8).any():
                raise RuntimeError("too large")
            return np.where(theta[:, :1] < -0.9, np.nan, theta)

        with pytest.warns(UserWarning, match="too large"):
            done = jf.simulate(fragile, PRIOR, 200, rows_per_call=10)
        assert (done.theta[:, 0] <= 0.8).all() and (done.theta[:, 0] >= -0.9).all()
        assert done.report["failed"] == 200 - len(done.x) == sum(f["rows"] for f in done.report["failures"].values())
        assert set(done.report["failures"]) == {"failed", "not_finite"}

    @pytest.mark.parametrize("wrong, message", [
        (lambda theta: 1 / 0, "ZeroDivisionError"),
        (lambda theta: theta[:3], "expected outcomes .*got the shape"),
        (lambda theta: "x", "could not convert"),
        (lambda theta: np.zeros((len(theta), 0)), "expected outcomes"),
    ])  # fmt: skip
    def test_simulators_that_are_none_are_refused(self, wrong, message):
        with pytest.raises(jf.InputError, match=message):
            jf.simulate(wrong, PRIOR, 100)

    def test_wrong_arguments(self):
        with pytest.raises(TypeError, match="simulator: expected a function"):
            jf.simulate(3, PRIOR, 10)
        with pytest.raises(ValueError, match="num_simulations"):
            jf.simulate(noisy, PRIOR, 0)
        with pytest.raises(jf.InputError, match="outcomes: expected 2 names"):
            jf.simulate(noisy, PRIOR, 10, outcomes=["x"])
        assert jf.simulate(noisy, PRIOR, 10, outcomes=["x", "y"]).outcome_names == ["x", "y"]


class TestPosterior:
    def test_has_the_bits_of_the_program(self, program, pairs, posterior):
        table = pd.DataFrame(np.hstack(pairs), columns=["a", "b", "x1", "x2"])
        table.to_csv(program.folder / "pairs.csv", index=False)
        (program.folder / "p.toml").write_text(PRIOR.to_toml())
        settings = [part for key, value in [("iterations", 150), ("flow.transforms", 1), ("flow.hidden", 16)] for part in ("--set", f"{key}={value}")]
        program("sbi", "fit", "pairs.csv", "--prior", "p.toml", "-o", "p.model", "--members", 1, *settings)
        theirs = jf.load(program.folder / "p.model")
        x = [0.3, -0.2]
        np.testing.assert_array_equal(posterior.sample((50,), x=x), theirs.sample((50,), x=x))
        program("sbi", "sample", "p.model", "--observed", "x1=0.3,x2=-0.2", "-n", 50, "-o", "s.npy")
        np.testing.assert_array_equal(posterior.sample((50,), x=x), np.load(program.folder / "s.npy"))
        posterior.save(program.folder / "ours.model")
        program("sbi", "sample", "ours.model", "--observed", "x1=0.3,x2=-0.2", "-n", 50, "-o", "t.npy")
        np.testing.assert_array_equal(posterior.sample((50,), x=x), np.load(program.folder / "t.npy"))

    def test_knows_what_the_outcomes_say(self, posterior):
        samples = posterior.sample((2000,), x=[0.3, -0.2])
        assert (np.abs(samples) <= [1, 2]).all()
        np.testing.assert_allclose(samples.mean(axis=0), [0.3, -0.2], atol=0.15)
        assert posterior.log_prob([[0.3, -0.2]], x=[0.3, -0.2]) > posterior.log_prob([[-0.7, 1]], x=[0.3, -0.2])
        assert posterior.log_prob([[3, 0]], x=[0.3, -0.2])[0] == -np.inf

    def test_shapes_are_those_of_sbi(self, posterior):
        x = np.array([[0.3, -0.2], [0.1, 0.4], [0, 0]])
        assert posterior.sample((), x=x[0]).shape == (2,)
        assert posterior.sample((4, 5), x=x[0]).shape == (4, 5, 2)
        batched = posterior.sample_batched((7,), x=x)
        assert batched.shape == (7, 3, 2)
        np.testing.assert_allclose(posterior.sample_batched((500,), x=x).mean(axis=0), x, atol=0.2)
        assert posterior.log_prob(batched[:, 0], x=x[0]).shape == (7,)
        assert posterior.log_prob(batched[0], x=x).shape == (3,)
        by_name = posterior.to_dict(posterior.sample((9,), x=x[0]))
        assert {name: values.shape for name, values in by_name.items()} == {"a": (1, 9), "b": (1, 9)}

    def test_the_map_is_more_probable_than_all_samples(self, posterior):
        x = [0.3, -0.2]
        best = posterior.map(x=x)
        assert posterior.log_prob([best], x=x)[0] >= posterior.log_prob(posterior.sample((5000,), x=x), x=x).max()

    def test_observations_come_in_every_form(self, posterior):
        expected = posterior.sample((3,), x=[0.3, -0.2])
        for x in (np.array([[0.3, -0.2]]), {"x2": -0.2, "x1": 0.3}, pd.DataFrame({"x2": [-0.2], "x1": [0.3]}), (0.3, -0.2)):
            np.testing.assert_array_equal(posterior.sample((3,), x=x), expected)
        posterior.set_default_x([0.3, -0.2])
        np.testing.assert_array_equal(posterior.sample((3,)), expected)
        posterior.default_x = None
        with pytest.raises(ValueError, match="which observation"):
            posterior.sample((3,))

    def test_copies_are_the_same(self, posterior):
        twin = pickle.loads(pickle.dumps(posterior))
        np.testing.assert_array_equal(twin.sample((5,), x=[0, 0]), posterior.sample((5,), x=[0, 0]))
        assert twin.report_ == posterior.report_ and twin.prior == PRIOR
        assert repr(twin) == "Posterior(a, b | x1, x2)"

    def test_tensors_come_back_as_tensors(self, posterior):
        torch = pytest.importorskip("torch")
        found = posterior.sample((5,), x=torch.tensor([0.3, -0.2]))
        assert isinstance(found, torch.Tensor) and found.shape == (5, 2)

    def test_several_members_and_no_prior(self, pairs):
        frame = pd.DataFrame(pairs.theta, columns=["a", "b"])
        npe = jf.NPE(settings={**QUICK, "iterations": 20}, members=2, verbose=False, n_jobs=1)
        post = npe.append_simulations(frame, pd.DataFrame(pairs.x, columns=["u", "v"])).train().build_posterior()
        assert post.parameter_names == ["a", "b"] and post.outcome_names == ["u", "v"] and post.prior is None
        assert post.report_["members"] == 2 and "committee" in post.report_

    @pytest.mark.parametrize("x, message", [
        ([0.3], "x: expected rows of 2 numbers, got the shape .1,"),
        ([[0, 0], [1, 1]], "expected one observation, got 2"),
        ([0, np.nan], "not finite"),
        ({"x1": 0}, "expected the outcomes x1, x2, got x1"),
        ("x", "expected numbers"),
        ([50, 50], "^x: row 0 is beyond .*; extrapolate=True gives one"),
    ])  # fmt: skip
    def test_wrong_observations_are_refused(self, posterior, x, message):
        with pytest.raises(ValueError, match=message):
            posterior.sample((3,), x=x)

    def test_far_observations_are_answered_where_asked(self, posterior):
        with pytest.warns(UserWarning, match="extrapolates"):
            assert posterior.sample((3,), x=[50, 50], extrapolate=True).shape == (3, 2)

    def test_wrong_uses(self, pairs, posterior):
        with pytest.raises(jf.InputError, match="append_simulations"):
            quick_npe().train()
        with pytest.raises(jf.InputError, match="train"):
            quick_npe().build_posterior()
        with pytest.raises(jf.InputError, match="theta has 400 rows, but x has 399"):
            quick_npe().append_simulations(pairs.theta, pairs.x[1:])
        with pytest.raises(jf.InputError, match="theta: expected rows of 2"):
            quick_npe().append_simulations(pairs.theta[:, :1], pairs.x)
        with pytest.raises(jf.InputError, match="support|prior"):
            quick_npe().append_simulations(pairs.theta + 5, pairs.x).train()
        with pytest.raises(jf.InputError, match="theta: expected rows of 2"):
            posterior.log_prob([1, 2, 3], x=[0, 0])


class TestChecks:
    def test_a_check_is_that_of_the_program(self, program, posterior):
        import json

        theta, x = jf.simulate(noisy, PRIOR, 120, seed=7)
        check = posterior.check(theta, x, num_posterior_samples=100)
        pd.DataFrame(np.hstack([theta, x]), columns=["a", "b", "x1", "x2"]).to_csv(program.folder / "new.csv", index=False)
        posterior.save(program.folder / "p.model")
        found = json.loads(program("sbi", "check", "p.model", "new.csv", "--samples", 100, "--json"))
        assert check.p_value == found["p_value"]
        assert check.sbc["p_value"] == found["ranks"]["p_value"]
        assert check.coverage["p_value"] == found["highest_density_coverage"]["p_value"]
        assert check.tarp["verdict"] == found["tarp"]["verdict"]
        assert check.verdict and "verdict" not in repr(check)

    def test_diagnostics_of_samples_find_what_is_wrong(self):
        random = np.random.default_rng(0)
        centre = random.normal(size=(400, 1, 2))
        truth = centre[:, 0] + random.normal(size=(400, 2))
        for width, verdict in ((1, "no sign"), (0.5, "over-confident")):
            samples = centre + width * random.normal(size=(400, 60, 2))
            ranks = jf.diagnostics.sbc_ranks(truth, samples)
            assert ranks["parameter"].shape == (400, 2)
            assert verdict in jf.diagnostics.sbc(ranks, ["a", "b"])["parameters"]["a"]["calibration"]
            assert (jf.diagnostics.tarp(ranks)["p_value"] > 0.01) == (width == 1)
            with pytest.raises(jf.InputError, match="log densities"):
                jf.diagnostics.coverage(ranks)
            logs = -0.5 * (((samples - centre) / width) ** 2).sum(axis=2)
            known = -0.5 * (((truth - centre[:, 0]) / width) ** 2).sum(axis=1)
            ranks = jf.diagnostics.sbc_ranks(truth, samples, log_prob=known, sample_log_prob=logs)
            assert (jf.diagnostics.coverage(ranks)["p_value"] > 0.01) == (width == 1)

    @pytest.mark.parametrize("method", ["network", "trees"])
    def test_c2st_tells_apart_what_differs(self, method):
        random = np.random.default_rng(0)
        a, b = random.normal(size=(2, 200, 2))
        same = jf.diagnostics.c2st(a, b, method=method)
        assert abs(same["accuracy"] - 0.5) < 4 * same["standard_error"] + 0.03
        assert jf.diagnostics.c2st(a, b + 4, method=method)["accuracy"] > 0.95

    def test_wrong_samples_are_refused(self):
        with pytest.raises(jf.InputError, match="samples: expected .simulations"):
            jf.diagnostics.sbc_ranks(np.zeros((5, 2)), np.zeros((5, 2)))
        with pytest.raises(jf.InputError, match="b: expected rows of 2"):
            jf.diagnostics.c2st(np.zeros((5, 2)), np.zeros((5, 3)))
        with pytest.raises(ValueError, match="method"):
            jf.diagnostics.c2st(np.zeros((5, 2)), np.zeros((5, 2)), method="forest")

    def test_c2st_against_exact_samples_is_that_of_the_program(self, program, posterior):
        import json

        exact = PRIOR.sample((200,), seed=5) * 0.3
        exact_frame = pd.DataFrame(exact, columns=["a", "b"])
        exact_frame.to_csv(program.folder / "exact.csv", index=False)
        posterior.save(program.folder / "p.model")
        found = json.loads(program("sbi", "check", "p.model", "--reference", "exact.csv", "--observed", "x1=0,x2=0", "--json"))
        ours = posterior.compare(exact, x=[0, 0])
        assert ours["sbibm"]["accuracy"] == found["c2st"]["sbibm"]["accuracy"]
        assert ours["paper"]["accuracy"] == found["c2st"]["paper"]["accuracy"]


@pytest.mark.skipif("JEFFREYS_DATA" not in os.environ, reason="JEFFREYS_DATA does not name the folder with sbibm's references")
def test_two_moons_has_the_c2st_of_the_program(program):
    """The verbs of sbi, on sbibm's own observation and reference samples (1,000 of them, to be quick)."""
    import bz2
    import json

    folder = Path(os.environ["JEFFREYS_DATA"], "sbibm", "two_moons", "num_observation_1")
    x_o = np.loadtxt(folder / "observation.csv", delimiter=",", skiprows=1)
    lines = bz2.decompress((folder / "reference_posterior_samples.csv.bz2").read_bytes()).decode().splitlines()
    (program.folder / "exact.csv").write_text("\n".join(lines[:1001]) + "\n")
    exact = pd.read_csv(program.folder / "exact.csv", float_precision="round_trip")
    prior = jf.Prior(parameter_1=jf.Uniform(-1, 1), parameter_2=jf.Uniform(-1, 1))
    (program.folder / "prior.toml").write_text(prior.to_toml())
    program("sbi", "simulate", "--task", "two_moons", "-n", 400, "--seed", 3, "-o", "pairs.csv")
    program("sbi", "fit", "pairs.csv", "--prior", "prior.toml", "--seed", 3, "-o", "p.model", *set_options({**QUICK, "members": 1}))
    observed = ",".join(f"outcome_{i + 1}={value!r}" for i, value in enumerate(x_o.tolist()))
    found = json.loads(program("sbi", "check", "p.model", "--reference", "exact.csv", "--observed", observed, "--seed", 3, "--json"))

    pairs = pd.read_csv(program.folder / "pairs.csv", float_precision="round_trip")
    npe = jf.NPE(prior, members=1, settings=QUICK, random_state=3, verbose=False)
    npe.append_simulations(pairs[["parameter_1", "parameter_2"]], pairs[["outcome_1", "outcome_2"]])
    ours = npe.train().build_posterior().compare(exact, x=x_o, seed=3)
    assert ours["sbibm"]["accuracy"] == found["c2st"]["sbibm"]["accuracy"]
    assert ours["paper"]["accuracy"] == found["c2st"]["paper"]["accuracy"]
    assert 0.5 < ours["sbibm"]["accuracy"] < 1
