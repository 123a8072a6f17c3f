"""Flows, energy models and the trainer, for researchers."""

import copy
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import jeffreys as jf

GOLDEN = Path(__file__).parent.parent.parent / "tests" / "golden"


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)


def test_samples_have_their_density():
    flow = jf.SplineFlow(features=3, transforms=4, dtype=np.float64)
    rows, log_prob = flow.sample_with_log_prob(200, seed=1)
    np.testing.assert_allclose(flow.log_prob(rows), log_prob, atol=1e-8)
    np.testing.assert_array_equal(flow.sample(200, seed=1), rows)
    assert flow.to_noise(rows).shape == (200, 3)


def test_scores_are_the_gradient_of_the_density():
    flow = jf.SplineFlow(2, hidden=[8], transforms=2, dtype=np.float64)
    random = np.random.default_rng(0)
    x, weights = random.normal(size=(20, 2)), random.normal(size=20)
    values, gradient = flow.add_scores(x, weights)
    np.testing.assert_allclose(values, flow.log_prob(x))
    start = flow.parameters
    direction = random.normal(size=len(start)) * (gradient != 0)
    sums = []
    for step in (1e-6, -1e-6):
        flow.parameters = start + step * direction
        sums.append(weights @ flow.log_prob(x))
    assert gradient @ direction == pytest.approx((sums[0] - sums[1]) / 2e-6, rel=1e-4)
    flow.parameters = start
    again = gradient.copy()
    flow.add_scores(x, weights, again)
    np.testing.assert_allclose(again, 2 * gradient)


def test_input_gradients_are_those_of_the_density():
    flow = jf.SplineFlow(2, 1, dtype=np.float64)
    x, context = np.array([[0.3, -0.4]]), np.array([[0.7]])
    _, gradient, of_context = flow.input_gradient(x, context=context)
    step = np.array([[1e-6, 0]])
    numeric = (flow.log_prob(x + step, context=context) - flow.log_prob(x - step, context=context)) / 2e-6
    assert gradient[0, 0] == pytest.approx(numeric[0], rel=1e-4)
    assert of_context.shape == (1, 1)


def test_zuko_goes_either_way():
    with np.load(GOLDEN / "nsf_2d.npz") as archive:
        state = {key.removeprefix("param."): archive[key] for key in archive.files if key.startswith("param.")}
        rows = archive["x"] if "x" in archive.files else None
        expected = archive["log_prob"] if "log_prob" in archive.files else None
    flow = jf.SplineFlow.from_zuko(state, dtype=np.float64)
    if rows is not None and expected is not None:
        np.testing.assert_allclose(flow.log_prob(rows), expected, atol=1e-4)
    back = flow.to_zuko()
    assert set(back) == set(state)
    for key in state:
        np.testing.assert_array_equal(np.asarray(back[key]).ravel(), np.asarray(state[key]).ravel(), err_msg=key)
    with pytest.raises(jf.InputError, match="^state_dict: .*zuko.flows.NSF"):
        jf.SplineFlow.from_zuko({"a": np.zeros(3)})


def test_arrays_of_the_models_dtype_are_not_copied(x):
    flow = jf.SplineFlow(3)
    assert flow._rows(x, "x") is x
    assert flow.log_prob(x).dtype == np.float32
    gradient = np.zeros(len(flow.parameters), dtype=np.float32)
    _, same = flow.add_scores(x, np.ones(50), gradient)
    assert same is gradient and gradient.any()


def test_files_and_copies(x, tmp_path):
    flow = jf.SplineFlow(3, seed=4)
    flow.save(tmp_path / "f.model")
    for twin in (jf.SplineFlow.load(tmp_path / "f.model"), pickle.loads(pickle.dumps(flow)), copy.deepcopy(flow)):
        np.testing.assert_array_equal(twin.log_prob(x), flow.log_prob(x))
    with pytest.raises(jf.InputError, match="no EnergyModel"):
        jf.EnergyModel.load(tmp_path / "f.model")
    blocks = flow.layout
    assert sum(where.stop - where.start for where, _ in blocks.values()) == len(flow.parameters)
    assert "spline flow" in repr(flow).lower().replace("_", " ")


def test_a_trainer_steps_by_hand(x):
    main, proxy = jf.SplineFlow(3, seed=0), jf.SplineFlow(3, seed=1)
    trainer = jf.Trainer(main, proxy, x)
    before = main.parameters
    records = [trainer.step() for _ in range(3)]
    assert [record["iteration"] for record in records] == [1, 2, 3] and trainer.iteration == 3
    assert not np.array_equal(main.parameters, before)
    assert set(trainer.multipliers) >= {"forward", "reverse", "proxy"}
    assert records[0]["nll"] == pytest.approx(-np.mean(jf.SplineFlow(3, seed=0).log_prob(x)), rel=1e-4)


def test_a_trainer_runs_and_resumes(x, tmp_path):
    settings = {"iterations": 12, "validation.every": 4}
    whole = jf.SplineFlow(3)
    result = jf.Trainer(whole, None, x, validation=x, settings=settings).run(verbose=False)
    assert result["iterations"] == 12 and result["stop_reason"] == "finished"
    halves = [jf.SplineFlow(3), jf.SplineFlow(3)]
    first = jf.Trainer(halves[0], None, x, settings=settings)
    for _ in range(5):
        first.step()
    first.save(tmp_path / "t.checkpoint")
    second = jf.Trainer(halves[1], None, x, settings=settings).resume(tmp_path / "t.checkpoint")
    assert first.step()["nll"] == second.step()["nll"]


def test_energy_models_and_conditions_train(x):
    context = x[:, :1] * 2
    main = jf.SplineFlow(3, 1)
    trainer = jf.Trainer(main, jf.EnergyModel(3, 1, hidden=16), (x, context))
    assert np.isfinite(trainer.step()["nll"])
    assert jf.EnergyModel(3).log_unnormalized(x).shape == (50,)
    assert main.sample(5, context=[0.5]).shape == (5, 3)


def test_wrong_uses(x):
    flow = jf.SplineFlow(3)
    with pytest.raises(jf.InputError, match="x: expected rows of 3"):
        flow.log_prob(x[:, :2])
    with pytest.raises(jf.InputError, match="context"):
        flow.log_prob(x, context=x)
    with pytest.raises(jf.InputError, match="as many numbers"):
        flow.parameters = np.zeros(3)
    with pytest.raises((jf.InputError, ValueError)):
        flow.add_scores(x, np.ones(3))
    with pytest.raises(ValueError, match="gradient"):
        flow.add_scores(x, np.ones(50), np.zeros(3))
    with pytest.raises(TypeError, match="state_dict: expected that of a zuko.flows.NSF"):
        jf.SplineFlow.from_zuko(None)
    with pytest.raises(jf.InputError, match="^features: expected at least 1, got 0"):
        jf.SplineFlow(0)
    with pytest.raises(TypeError, match="dtype"):
        jf.SplineFlow(2, dtype=np.int32)
    with pytest.raises(TypeError, match="main"):
        jf.Trainer(None, None, x)
    with pytest.raises(jf.InputError, match="another model"):
        jf.Trainer(flow, flow, x)
    with pytest.raises(jf.InputError, match="unknown setting"):
        jf.Trainer(flow, None, x, settings={"rate": 1})
    with pytest.raises(jf.InputError):
        jf.Trainer(flow, jf.SplineFlow(2), x)
    with pytest.raises(TypeError, match="dtype"):
        jf.Trainer(flow, jf.SplineFlow(3, dtype=np.float64), x)
    assert np.isnan(flow.log_prob(np.full((1, 3), np.nan, dtype=np.float32))).all()
