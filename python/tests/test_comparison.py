"""Comparisons of methods: the program's numbers, its folders, and tasks of joblib."""

import json

import joblib
import numpy as np
import pytest

import jeffreys as jf
from conftest import QUICK, make_frame

METHODS = ["mle", "gaussian", "kde"]
SOME = {"methods": METHODS, "splits": 2, "settings": QUICK, "verbose": False}


@pytest.fixture(scope="module")
def numbers():
    return make_frame()[["height", "age", "group"]]


@pytest.fixture(scope="module")
def found(numbers):
    return jf.compare(numbers, n_jobs=2, **SOME)


def nlls(comparison):
    return {each["method"]: each["nll"] for each in comparison.methods}


def test_the_numbers_are_those_of_the_program(program, numbers, found):
    from conftest import set_options

    numbers.to_csv(program.folder / "t.csv", index=False)
    arguments = ("compare", "t.csv", "--methods", ",".join(METHODS), "--splits", 2, "-o", "folder", *set_options(QUICK))
    theirs = json.loads(program(*arguments, "--json"))
    assert nlls(found) == {each["name"]: each["nll"] for each in theirs["methods"]}
    assert found.verdict == theirs["verdict"]
    for ours, other in zip(found.methods[1:], theirs["methods"][1:]):
        assert ours["lower"] == other["difference"]["lower"]
    taken_up = jf.compare(numbers, folder=program.folder / "folder", **{**SOME, "splits": 3})
    states = [state for _, state, _ in taken_up.jobs]
    assert states.count("was done") == 6 and states.count("done") == 3
    assert {each["splits"] for each in taken_up.methods} == {3}


def test_a_comparison_shows_itself(found):
    assert list(found.table.index) == METHODS
    assert np.isnan(found.table["difference"]["mle"]) and found.table["upper"]["kde"] > found.table["lower"]["kde"]
    assert "NLL" in repr(found) and found.verdict in repr(found)
    assert "gaussian" in found._repr_html_() and found.training_rows == 96
    assert len(found.plot().axes) == 2
    assert jf.compare(np.eye(20, 2) + np.arange(20)[:, None] % 7, "gaussian,kde", splits=1, verbose=False).plot()


def test_every_fit_is_a_task_of_joblib(numbers, found, tmp_path):
    told = []
    with joblib.parallel_backend("loky", n_jobs=2):
        spread = jf.compare(numbers, folder=tmp_path / "f", callback=told.append, **SOME)
    assert nlls(spread) == nlls(found) and spread.verdict == found.verdict
    assert [state for _, state, _ in spread.jobs] == ["done"] * 6
    assert told[-1]["iteration"] == told[-1]["iterations"] == 6
    with joblib.parallel_backend("loky", n_jobs=2):
        again = jf.compare(numbers, folder=tmp_path / "f", **SOME)
    assert [state for _, state, _ in again.jobs] == ["was done"] * 6
    assert nlls(again) == nlls(found)


def test_a_stopped_comparison_goes_on(numbers, tmp_path):
    class Enough(Exception):
        pass

    def stop(progress):
        if progress["iteration"] >= 2:
            raise Enough

    # Enough fits that some are left when the callback has been asked.
    many = {**SOME, "splits": 30}
    with pytest.raises(Enough):
        jf.compare(numbers, n_jobs=1, folder=tmp_path / "f", callback=stop, **many)
    finished = jf.compare(numbers, folder=tmp_path / "f", **many)
    states = [state for _, state, _ in finished.jobs]
    assert 1 <= states.count("was done") < 90
    assert nlls(finished) == nlls(jf.compare(numbers, **many))


def test_methods_and_columns_can_be_said(numbers):
    found = jf.compare(
        numbers, {"plain": "mle+iterations=5", "fixed": "gaussian"}, condition=["group"], bounds={"height": (0, 300)},
        splits=2, rows=60, test_rows=10, seeds=1, settings=QUICK, verbose=False,
    )  # fmt: skip
    assert [each["method"] for each in found.methods] == ["plain", "fixed"]
    assert found.methods[0]["definition"] == "mle+iterations=5"
    assert (found.training_rows, found.test_rows) == (60, 10)
    assert found.methods[0]["splits"] == 2


@pytest.mark.parametrize("options, message", [
    ({"methods": ["best"]}, "best"),
    ({"splits": 0}, "splits: expected a whole number from 1 on"),
    ({"rows": 1.5}, "rows: expected a whole number"),
    ({"rows": 5000}, "choose fewer rows or a smaller test"),
    ({"test": 1.5}, "test"),
    ({"group": "day"}, "no column .day. to group by"),
    ({"condition": ["z"]}, "condition: X has no column 'z'"),
    ({"settings": {"iteration": 3}}, "iteration"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(numbers, options, message):
    with pytest.raises(ValueError, match=message):
        jf.compare(numbers, **{**SOME, "splits": 2, **options})


def test_a_folder_of_another_comparison_is_refused(numbers, tmp_path):
    gaussian = {**SOME, "methods": ["gaussian"]}
    jf.compare(numbers, folder=tmp_path / "f", **gaussian)
    with pytest.raises(jf.InputError, match="another seed .*choose another folder"):
        jf.compare(numbers, folder=tmp_path / "f", random_state=1, **gaussian)
    with joblib.parallel_backend("loky", n_jobs=2), pytest.raises(jf.InputError, match="another table"):
        jf.compare(numbers.head(60), folder=tmp_path / "f", **gaussian)
