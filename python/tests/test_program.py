"""The package and the program are the same library: the same seed gives the same bits, and files go either way."""

import json

import numpy as np
import pandas as pd
import pytest

import jeffreys as jf
from conftest import QUICK, make_frame, quick, set_options


def scores(program, model, table, *options):
    program("log_prob", model, table, "-o", "scores.npy", *options)
    return np.load(program.folder / "scores.npy")[:, 0]


@pytest.fixture
def numbers():
    """Columns that a CSV file holds as they are."""
    return make_frame()[["height", "age", "group", "smoker"]]


def test_fits_of_an_array_have_the_same_bits(program, plane):
    np.save(program.folder / "plane.npy", plane)
    program("fit", "plane.npy", "-o", "plane.model", "--seed", 3, *set_options())
    ours = quick(random_state=3).fit(plane)
    np.testing.assert_array_equal(ours.score_samples(plane), scores(program, "plane.model", "plane.npy"))
    program("sample", "plane.model", "-n", 50, "--seed", 5, "-o", "s.npy")
    np.testing.assert_array_equal(ours.sample(50, random_state=5), np.load(program.folder / "s.npy"))


def test_fits_of_a_frame_have_the_same_bits(program, numbers):
    numbers.to_csv(program.folder / "t.csv", index=False)
    program("fit", "t.csv", "-o", "t.model", *set_options())
    ours = quick().fit(numbers)
    theirs = jf.load(program.folder / "t.model")
    np.testing.assert_array_equal(ours.score_samples(numbers), theirs.score_samples(numbers))
    np.testing.assert_array_equal(ours.score_samples(numbers), scores(program, "t.model", "t.csv"))
    pd.testing.assert_frame_equal(ours.sample(40)[["height", "age"]], theirs.sample(40)[["height", "age"]])
    without_time = {key: value for key, value in ours.report_.items() if key != "seconds"}
    assert without_time == theirs.report_
    assert ours.notes_ == theirs.notes_


def test_several_fits_have_the_same_bits(program, plane):
    np.save(program.folder / "plane.npy", plane)
    program("fit", "plane.npy", "-o", "plane.model", *set_options({**QUICK, "members": 4}))
    ours = quick(members=4).fit(plane)
    assert ours.report_["members"] == 4 and len(ours.report_["blend"]) >= 3
    np.testing.assert_array_equal(ours.score_samples(plane), scores(program, "plane.model", "plane.npy"))


def test_the_energy_proxy_conditions_and_bounds_have_the_same_bits(program, numbers):
    numbers.to_csv(program.folder / "t.csv", index=False)
    program("fit", "t.csv", "-o", "t.model", "--proxy", "energy", "--condition", "group", "--bound", "height=100:250",
            "--ignore", "smoker", *set_options())  # fmt: skip
    ours = quick(proxy="energy", condition=["group"], bounds={"height": (100, 250)}, ignore=["smoker"]).fit(numbers)
    for model in ("main", "proxy"):
        expected = scores(program, "t.model", "t.csv", "--from", model)
        np.testing.assert_array_equal(ours.score_samples(numbers, model=model), expected)
    program("sample", "t.model", "-n", 30, "--given", "group=b", "-o", "s.csv")
    theirs = pd.read_csv(program.folder / "s.csv", float_precision="round_trip")
    np.testing.assert_array_equal(ours.sample(30, given={"group": "b"})["height"], theirs["height"])


def test_the_program_reads_what_the_package_saves(program, numbers, tmp_path):
    ours = quick().fit(numbers)
    ours.save(tmp_path / "ours.model")
    numbers.to_csv(tmp_path / "t.csv", index=False)
    np.testing.assert_array_equal(ours.score_samples(numbers), scores(program, "ours.model", "t.csv"))
    found = json.loads(program("inspect", "ours.model", "--json"))
    assert [column["name"] for column in found["columns"]] == list(numbers)


def test_evaluation_percentiles_and_explanations_are_those_of_the_program(program, numbers, tmp_path):
    ours = quick().fit(numbers)
    ours.save(tmp_path / "ours.model")
    new = make_frame(50, seed=9)[list(numbers)]
    new.to_csv(tmp_path / "new.csv", index=False)
    found = json.loads(program("evaluate", "ours.model", "new.csv", "--json"))
    assert ours.evaluate(new)["main"] == found["main"]
    assert ours.evaluate(new)["reverse_kl"]["kl"] == found["reverse_kl"]["kl"]
    program("log_prob", "ours.model", "new.csv", "--percentile", "--explain", "-o", "s.csv")
    theirs = pd.read_csv(tmp_path / "s.csv", float_precision="round_trip")
    np.testing.assert_array_equal(ours.percentile(new), theirs["p_value"])
    surprises = ours.explain(new)
    row = int(np.argmax(surprises.max(axis=1)))
    assert theirs["explanation"][row].startswith(f"{surprises.iloc[row].idxmax()} {surprises.iloc[row].max():.1f}")


def test_categories_by_number_are_those_of_the_program(program):
    frame = make_frame()[["height", "age"]].assign(kind=np.arange(120) % 3)
    frame.to_csv(program.folder / "t.csv", index=False)
    program("fit", "t.csv", "-o", "t.model", "--categorical", "kind", *set_options())
    ours = quick(categorical=["kind"]).fit(frame)
    np.testing.assert_array_equal(ours.score_samples(frame), scores(program, "t.model", "t.csv"))
    assert ours.sample(20)["kind"].dtype == frame["kind"].dtype


def test_threads_change_no_bit(plane):
    one, two = (quick(n_jobs=n).fit(plane) for n in (1, 2))
    np.testing.assert_array_equal(one.score_samples(plane), two.score_samples(plane))
    np.testing.assert_array_equal(one.sample(500), two.sample(500))


def test_settings_are_the_programs(program, plane):
    assert set(QUICK) < set(json.loads(program("fit", "--settings", "--json")))
    with pytest.raises(jf.InputError, match="settings: unknown setting 'flow.bin': did you mean flow.bins"):
        jf.Density(settings={"flow.bin": 8}).fit(plane)
