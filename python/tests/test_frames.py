"""Frames and arrays in, the same form out."""

import numpy as np
import pandas as pd
import pytest

import jeffreys as jf
from conftest import make_frame, quick


def test_samples_have_the_form_of_the_frame(frame, fitted):
    samples = fitted.sample(300, random_state=1)
    pd.testing.assert_series_equal(samples.dtypes, frame.dtypes)
    assert set(samples["site"]) == {"north", "south"}
    assert set(samples["group"]) <= {"a", "b", "c"}
    assert samples["age"].between(0, 120).mean() > 0.95
    assert samples["seen"].dt.year.between(2023, 2025).all()
    # Days were given, days come back.
    assert (samples["seen"] == samples["seen"].dt.floor("D")).all()


def test_scores_are_one_for_each_row_whatever_the_index(frame, fitted):
    shuffled = frame.sample(frac=1, random_state=0)
    np.testing.assert_array_equal(fitted.score_samples(shuffled), fitted.score_samples(frame)[shuffled.index])
    assert fitted.explain(shuffled).index.equals(shuffled.index)


def test_a_missing_value_leaves_its_row_without_a_score_if_rows_are_dropped(frame):
    fitted = quick(missing="drop").fit(frame)
    holes = frame.copy()
    holes.loc[3, "height"] = np.nan
    holes.loc[5, "children"] = pd.NA
    holes.loc[7, "site"] = None
    holes.loc[9, "group"] = None
    holes.loc[11, "seen"] = pd.NaT
    scores = fitted.score_samples(holes)
    assert set(np.flatnonzero(np.isnan(scores))) == {3, 5, 7, 9, 11}
    whole = np.setdiff1d(np.arange(len(frame)), [3, 5, 7, 9, 11])
    np.testing.assert_array_equal(scores[whole], fitted.score_samples(frame)[whole])
    assert quick(missing="drop").fit(holes).report_["dropped_rows"] == 5
    assert np.isfinite(quick().fit(holes).score_samples(holes)).all()
    assert np.isfinite(fitted.score(holes))


def test_unusual_rows_have_scores_and_notes(frame, fitted):
    odd = frame.head(4).copy()
    odd["group"] = ["a", "b", "unheard of", "c"]
    described = fitted.describe_rows(odd)
    assert "unheard of" in described["note"][2]
    assert list(described["note"][[0, 1, 3]]) == ["", "", ""]
    np.testing.assert_array_equal(described["log_prob"], fitted.score_samples(odd))
    bounded = quick(bounds={"height": (0, None)}).fit(frame[["height", "age"]])
    assert bounded.score_samples(frame[["height", "age"]].assign(height=-1.0)).max() == -np.inf


def test_conditions_are_given_by_value_or_by_frame(frame):
    d = quick(condition=["site", "seen", "age"]).fit(frame)
    given = {"site": "north", "seen": pd.Timestamp("2024-03-01"), "age": 40}
    samples = d.sample(10, given=given)
    assert set(samples["site"]) == {"north"}
    assert set(samples["seen"]) == {pd.Timestamp("2024-03-01")}
    by_frame = d.sample(10, given=pd.DataFrame([given]))
    pd.testing.assert_frame_equal(by_frame, samples)
    assert len(d.sample(3, given=frame.head(4))) == 12
    with pytest.raises(jf.InputError, match="site"):
        d.sample(3)
    with pytest.raises(jf.InputError, match="no column 'seen'"):
        d.sample(3, given=frame[["site", "age"]])


@pytest.mark.parametrize("dtype", ["string", "object", "category"])
def test_text_of_every_dtype_comes_back_as_it_was(dtype):
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60), "t": pd.Series(["a", "b"] * 30, dtype=dtype)})
    samples = quick().fit(frame).sample(20)
    assert samples["t"].dtype == frame["t"].dtype
    assert set(samples["t"]) <= {"a", "b"}


def test_categories_may_be_numbers_bools_or_ordered():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({
        "x": random.normal(size=80),
        "number": pd.Categorical(random.choice([1, 2, 30], 80)),
        "size": pd.Categorical(random.choice(["S", "L"], 80), ["S", "M", "L"], ordered=True),
        "truth": pd.array(random.random(80) < 0.5, dtype="boolean"),
    })  # fmt: skip
    samples = quick().fit(frame).sample(50)
    pd.testing.assert_series_equal(samples.dtypes, frame.dtypes)
    assert set(samples["number"]) <= {1, 2, 30}


def test_times_may_have_zones_and_lengths():
    random = np.random.default_rng(0)
    hours = pd.to_timedelta(random.integers(0, 5000, 80), unit="h")
    frame = pd.DataFrame({"x": random.normal(size=80), "at": pd.Timestamp("2024-01-01", tz="Europe/Berlin") + hours, "long": hours})
    samples = quick().fit(frame).sample(50)
    pd.testing.assert_series_equal(samples.dtypes, frame.dtypes)
    assert (samples["long"] == samples["long"].dt.floor("H")).all()


def test_arrays_of_every_dtype_and_order_are_the_same_rows(plane):
    d = quick().fit(plane)
    expected = d.score_samples(plane)
    np.testing.assert_array_equal(d.score_samples(np.asfortranarray(plane)), expected)
    np.testing.assert_array_equal(d.score_samples(plane.tolist()), expected)
    np.testing.assert_array_equal(d.score_samples(plane.astype(object)), expected)
    np.testing.assert_allclose(d.score_samples(plane.astype(np.float32)), expected, atol=1e-4)
    np.testing.assert_array_equal(d.score_samples(plane[::2]), expected[::2])
    assert d.sample(4).shape == (4, 2)
    assert not hasattr(d, "feature_names_in_")


def test_arrays_of_text_are_tables_too():
    array = np.array([[str(i % 3), i * 0.37] for i in range(60)], dtype=object)
    array[:, 0] = [f"k{v}" for v in array[:, 0]]
    d = quick().fit(array)
    assert set(d.sample(9).iloc[:, 0]) <= {"k0", "k1", "k2"}


def test_columns_of_an_array_are_named_by_place(plane):
    d = quick(condition=[0], bounds={"x2": (-10, None)}).fit(plane)
    assert d.report_["conditions"] == ["x1"]
    assert d.sample(5, given={"x1": 0.5})[:, 0].tolist() == [0.5] * 5


def test_names_and_order_are_those_of_the_fit(frame, fitted, plane):
    assert list(fitted.feature_names_in_) == list(frame)
    with pytest.raises(ValueError, match="must be in the same order"):
        fitted.score_samples(frame[list(frame)[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- mass"):
        fitted.score_samples(frame.rename(columns={"weight": "mass"}))
    with pytest.raises(ValueError, match="yet now missing:\n- age"):
        fitted.score_samples(frame.drop(columns="age"))
    of_frame = quick().fit(pd.DataFrame(plane, columns=["a", "b"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        of_frame.score_samples(plane)
    with pytest.raises(ValueError, match="X has 1 features, but Density is expecting 2"):
        quick().fit(plane).score_samples(plane[:, :1])


def test_frames_whose_names_are_numbers_keep_them(plane):
    frame = pd.DataFrame(plane)
    samples = quick().fit(frame).sample(3)
    assert list(samples.columns) == [0, 1]


@pytest.mark.parametrize("column, message", [
    (["a", 1] * 30, "row 1.*different kinds, here 1 of type int.*astype"),
    (["a", 1.5, None] * 20, "row 1.*different kinds, here 1.5"),
    ([{"a": 1}] * 60, "different kinds"),
    ([1 + 2j] * 60, "Complex data"),
])  # fmt: skip
def test_columns_that_are_no_columns_are_refused(column, message):
    frame = pd.DataFrame({"x": np.arange(60.0), "odd": column})
    with pytest.raises(ValueError, match=message):
        quick().fit(frame)


def test_rows_are_named_in_messages(frame, fitted):
    wrong = frame.copy()
    wrong.loc[4, "height"] = np.inf
    for use in (lambda: quick().fit(wrong), lambda: fitted.score_samples(wrong)):
        with pytest.raises(jf.InputError, match="row 4.*height"):
            use()
    with pytest.raises(jf.InputError, match="row 0.*170 cm"):
        fitted.score_samples(frame.assign(height="170 cm"))


def test_two_columns_of_one_name_are_refused(plane):
    with pytest.raises(jf.InputError, match="two columns are called 'a'"):
        quick().fit(pd.DataFrame(plane, columns=["a", "a"]))


@pytest.mark.parametrize("X", [np.zeros(5), np.zeros((2, 2, 2)), np.zeros((0, 2)), np.zeros((5, 0)), np.zeros((1, 2)), 3, "x", None])
def test_what_is_no_table_is_refused(X):
    with pytest.raises((ValueError, TypeError)):
        quick().fit(X)


def test_a_series_is_a_table_of_one_column():
    series = pd.Series(np.random.default_rng(0).normal(size=50), name="v")
    assert list(quick().fit(series).sample(3).columns) == ["v"]


def test_other_frames_are_read_as_pandas(fitted, frame):
    class Polars:
        def to_pandas(self):
            return frame

    np.testing.assert_array_equal(fitted.score_samples(Polars()), fitted.score_samples(frame))


def test_fits_do_not_depend_on_the_order_of_rows():
    frame = make_frame()
    np.testing.assert_array_equal(
        quick().fit(frame).score_samples(frame), quick().fit(frame.iloc[::-1]).score_samples(frame)
    )
