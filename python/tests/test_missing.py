"""Weights of rows, missing cells, columns that are given, and synthetic tables: the program's results."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest

import jeffreys as jf
from conftest import make_frame, quick, set_options


@pytest.fixture(scope="module")
def numbers():
    return make_frame()[["height", "weight", "group"]].astype({"weight": float})


@pytest.fixture(scope="module")
def gaps(numbers):
    random = np.random.default_rng(3)
    holes = numbers.copy()
    holes.loc[random.random(len(holes)) < 0.15, "weight"] = np.nan
    holes.loc[random.random(len(holes)) < 0.1, "group"] = None
    return holes


def read(path):
    return pd.read_csv(path, float_precision="round_trip")


def test_weights_are_those_of_the_program(program, numbers):
    weights = np.random.default_rng(0).exponential(size=len(numbers))
    numbers.assign(w=weights).to_csv(program.folder / "t.csv", index=False)
    program("fit", "t.csv", "-o", "t.model", "--weights", "w", *set_options())
    ours = quick().fit(numbers, sample_weight=weights)
    program("log_prob", "t.model", "t.csv", "-o", "s.npy")
    theirs = np.load(program.folder / "s.npy")[:, 0]
    np.testing.assert_array_equal(ours.score_samples(numbers), theirs)
    assert not np.array_equal(theirs, quick().fit(numbers).score_samples(numbers))
    assert ours.score(numbers, sample_weight=weights) == pytest.approx(np.average(theirs, weights=weights))
    found = json.loads(program("evaluate", "t.model", "t.csv", "--json"))
    assert ours.evaluate(numbers, sample_weight=weights)["main"] == found["main"]
    assert ours.evaluate(numbers)["main"] != found["main"]


def test_weights_of_arrays_and_even_ones(plane):
    plain = quick().fit(plane).score_samples(plane)
    np.testing.assert_array_equal(quick().fit(plane, sample_weight=np.full(200, 3.0)).score_samples(plane), plain)
    left_out = np.where(np.arange(200) < 150, 1.0, 0.0)
    some = quick(members="auto").fit(plane, sample_weight=left_out)
    assert some.report_["members"] == 10
    assert np.isfinite(some.score(plane, sample_weight=left_out))
    again = jf.load(_saved(some))
    np.testing.assert_array_equal(again.score_samples(plane), some.score_samples(plane))


def _saved(density):
    import tempfile

    path = tempfile.NamedTemporaryFile(suffix=".model", delete=False).name
    density.save(path)
    return path


@pytest.mark.parametrize("weights, message", [
    (np.ones(3), r"sample_weight.shape == \(3,\)"),
    (np.ones((200, 2)), "Sample weights must be 1D"),
    (np.full(200, -1.0), "not negative"),
    (np.zeros(200), "not all 0"),
    (np.full(200, np.nan), "finite"),
])  # fmt: skip
def test_wrong_weights_are_refused(plane, weights, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(plane, sample_weight=weights)
    with pytest.raises(ValueError, match=message):
        quick().fit(plane).score(plane, sample_weight=weights)


@pytest.fixture(scope="module")
def keeping(gaps):
    return quick().fit(gaps)


def test_rows_with_gaps_count_as_in_the_program(program, gaps, keeping):
    gaps.to_csv(program.folder / "t.csv", index=False)
    program("fit", "t.csv", "-o", "t.model", *set_options())
    program("log_prob", "t.model", "t.csv", "--percentile", "-o", "s.csv")
    theirs = read(program.folder / "s.csv")
    np.testing.assert_array_equal(keeping.score_samples(gaps), theirs["log_prob"])
    assert np.isfinite(theirs["log_prob"]).all()
    np.testing.assert_array_equal(keeping.percentile(gaps), theirs["p_value"])
    np.testing.assert_array_equal(keeping.describe_rows(gaps)["p_value"], theirs["p_value"])
    with_gaps = gaps.isna().any(axis=1)
    assert np.isnan(keeping.percentile(gaps))[with_gaps].all()
    assert keeping.evaluate(gaps)["rows_with_gaps"] == with_gaps.sum()
    assert np.isnan(quick(missing="drop").fit(gaps).score_samples(gaps)[with_gaps]).all()
    with pytest.raises(jf.InputError, match="missing"):
        quick(missing="error").fit(gaps)
    with pytest.raises(jf.InputError, match="missing: .*expected"):
        quick(missing="perhaps").fit(gaps)


def test_members_with_gaps_are_tasks_of_joblib(gaps):
    here = quick(members=4, missing="keep").fit(gaps)
    with joblib.parallel_backend("loky", n_jobs=2):
        spread = quick(members=4, missing="keep").fit(gaps)
    assert here.report_["members"] == 4
    np.testing.assert_array_equal(spread.score_samples(gaps), here.score_samples(gaps))


def test_missing_cells_are_filled_as_by_the_program(program, gaps, keeping, tmp_path):
    keeping.save(tmp_path / "t.model")
    gaps.to_csv(tmp_path / "t.csv", index=False)
    program("impute", "t.model", "t.csv", "--seed", 4, "-o", "filled.csv")
    filled = keeping.impute(gaps, random_state=4)
    pd.testing.assert_frame_equal(filled, read(tmp_path / "filled.csv"))
    assert not filled.isna().any().any()
    there = gaps["weight"].notna()
    np.testing.assert_array_equal(filled["weight"][there], gaps["weight"][there])
    one, two = keeping.impute(gaps, draws=2)
    assert not one.equals(two) and one[gaps.notna().all(axis=1)].equals(two[gaps.notna().all(axis=1)])
    means = keeping.impute(gaps.set_index(gaps.index + 7), fill="mean")
    assert means.index[0] == 7 and means["weight"].std() < filled["weight"].std() * 1.1
    for wrong in ({"fill": "zero"}, {"draws": 0}, {"draws": 2, "fill": "mean"}):
        with pytest.raises(ValueError):
            keeping.impute(gaps, **wrong)


def test_cells_of_arrays_and_dates_are_filled(plane):
    holes = plane[:40].copy()
    holes[::9, 1] = np.nan
    filled = quick().fit(plane).impute(holes)
    assert filled.shape == holes.shape and np.isfinite(filled).all()
    np.testing.assert_array_equal(filled[1], plane[1])
    frame = make_frame(60)[["seen", "children", "site"]]
    frame.loc[::10, "seen"] = pd.NaT
    frame.loc[::10, "children"] = pd.NA
    found = quick().fit(frame.dropna()).impute(frame)
    assert not found.isna().any().any() and (found.dtypes == frame.dtypes).all()


def test_any_column_can_be_given(program, numbers, tmp_path):
    d = quick().fit(numbers)
    d.save(tmp_path / "t.model")
    program("sample", "t.model", "-n", 30, "--given", "height=180,group=b", "-o", "s.csv")
    ours = d.sample(30, given={"height": 180, "group": "b"})
    pd.testing.assert_frame_equal(ours, read(tmp_path / "s.csv").astype({"height": float}))
    assert set(ours["group"]) == {"b"} and set(ours["height"]) == {180}
    given = pd.DataFrame({"height": [160.0, np.nan], "group": ["a", "b"]})
    many = d.sample(5, given=given)
    assert len(many) == 10 and (many["height"][:5] == 160).all() and (many["group"][5:] == "b").all()
    array = quick().fit(numbers[["height", "weight"]].to_numpy())
    assert (array.sample(4, given={"x1": 170})[:, 0] == 170).all()
    np.testing.assert_array_equal(array.sample(4, given={0: 170}), array.sample(4, given={"x1": 170}))
    with pytest.raises(jf.InputError, match="given: X has no column 'site'"):
        d.sample(3, given={"site": "north"})
    with pytest.raises(jf.InputError, match="no column of this frame"):
        d.sample(3, given=pd.DataFrame({"z": [1]}))
    with pytest.raises(jf.InputError):
        d.sample(3, given={"group": "z"})


def test_the_density_of_some_columns_given_others(program, numbers, tmp_path):
    d = quick().fit(numbers)
    d.save(tmp_path / "t.model")
    numbers.to_csv(tmp_path / "t.csv", index=False)
    program("log_prob", "t.model", "t.csv", "--columns", "weight", "--given", "height", "-o", "s.npy")
    ours = d.score_samples(numbers, columns=["weight"], given=["height"])
    np.testing.assert_array_equal(ours, np.load(tmp_path / "s.npy")[:, 0])
    alone = d.score_samples(numbers[["height"]], columns=["height"])
    assert np.isfinite(alone).all() and len(alone) == len(numbers)
    with pytest.raises(jf.InputError, match="columns: X has no column 'z'"):
        d.score_samples(numbers, columns=["z"])


def test_synthetic_tables_are_checked_as_by_the_program(program, numbers, tmp_path):
    d = quick().fit(numbers)
    d.save(tmp_path / "t.model")
    made = d.sample(120, random_state=2)
    made.to_csv(tmp_path / "made.csv", index=False)
    numbers.to_csv(tmp_path / "t.csv", index=False)
    theirs = json.loads(program("evaluate", "t.model", "t.csv", "--synthetic", "made.csv", "--json"))["synthetic"]
    ours = d.check_synthetic(made, numbers)
    assert ours.verdict == theirs["verdict"] and ours.c2st == theirs["c2st"]
    assert ours.copied == theirs["copied"] and ours.p_value == theirs["p_value"]
    assert list(ours.columns["distance"]) == [each["distance"] for each in theirs["columns"]]
    assert len(ours.pairs) == 3 and len(ours.plot().axes) >= 3
    assert "classifier" in ours._repr_html_() and ours.verdict in repr(ours)
    copied = d.check_synthetic(numbers.head(100), make_frame(100, seed=5)[list(numbers)], training=numbers)
    assert copied.copied and copied.copies[0] == (0, 0)
