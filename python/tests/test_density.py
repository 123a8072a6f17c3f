"""Density as scikit-learn knows estimators."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import jeffreys as jf
from conftest import QUICK, quick


def test_check_estimator_passes():
    check_estimator(quick(settings={**QUICK, "iterations": 5}))


def test_no_check_is_left_out():
    assert "_xfail_checks" not in jf.Density()._more_tags()


def test_attributes_of_a_fit(fitted, frame):
    assert fitted.n_iter_ == 60
    assert fitted.n_features_in_ == 8
    assert "verdict" in fitted.report_
    assert any("age" in note for note in fitted.notes_)
    assert isinstance(fitted.warnings_, list)
    assert fitted.score(frame) == pytest.approx(np.mean(fitted.score_samples(frame)))
    assert fitted.course()["steps"]["nll"].size > 0


def test_a_single_fit_tells_which_rows_it_held_out(plane, frame):
    for X, options in ((plane, {}), (frame, {"condition": ["site"], "ignore": ["seen"]})):
        d = quick(method="mle", **options).fit(X)
        rows = X[d.held_out_] if X is plane else X.iloc[d.held_out_]
        assert len(rows) == d.report_["held_out_rows"] > 10
        assert -d.score(rows) == pytest.approx(d.report_["main"]["held_out"]["nll"], rel=1e-12)
    assert len(quick(members=4).fit(plane).held_out_) == 0


def test_settings_of_a_fit_are_told(fitted, tmp_path):
    assert fitted.settings_["iterations"] == "60" and fitted.settings_["flow.hidden"] == "8"
    fitted.save(tmp_path / "t.model")
    assert jf.load(tmp_path / "t.model").settings_ == fitted.settings_


def test_many_rows_are_scored_as_few_are(plane):
    """Arrays go to the library in blocks."""
    d = quick(missing="drop").fit(plane)
    many = np.tile(plane, (200, 1))
    many[39_000, 0] = np.nan
    scores = d.score_samples(many)
    np.testing.assert_array_equal(scores[:200], d.score_samples(plane))
    np.testing.assert_array_equal(scores[200:39_000].reshape(-1, 200), np.tile(scores[:200], (194, 1)))
    assert np.isnan(scores[39_000]) and np.isfinite(scores[39_001:]).all()
    many[39_500, 1] = np.inf
    with pytest.raises(jf.InputError, match="X, row 39500"):
        d.score_samples(many)


def test_both_models_speak(fitted, frame):
    chosen = fitted.report_["chosen"]
    np.testing.assert_array_equal(fitted.score_samples(frame), getattr(fitted, chosen + "_").score_samples(frame))
    assert fitted.main_.score(frame) != fitted.proxy_.score(frame)
    assert not fitted.main_.sample(9).equals(fitted.proxy_.sample(9))
    assert fitted.main_.percentile(frame).max() <= 1
    assert fitted.proxy_.explain(frame.head(2)).shape == (2, 8)
    assert quick(method="mle").fit(frame).proxy_ is None
    with pytest.raises(jf.InputError, match="model: expected 'main' or 'proxy'"):
        fitted.score_samples(frame, model="best")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_are_the_same_density(again, fitted, frame):
    twin = again(fitted)
    np.testing.assert_array_equal(twin.score_samples(frame), fitted.score_samples(frame))
    assert twin.sample(5, random_state=2).equals(fitted.sample(5, random_state=2))
    assert twin.report_ == fitted.report_
    assert twin.get_params() == fitted.get_params()


def test_files_keep_the_form_of_the_frame(fitted, frame, tmp_path):
    fitted.save(tmp_path / "t.model")
    loaded = jf.load(tmp_path / "t.model")
    np.testing.assert_array_equal(loaded.score_samples(frame), fitted.score_samples(frame))
    assert loaded.sample(5).equals(fitted.sample(5))
    assert list(loaded.feature_names_in_) == list(frame)


def test_parameters_are_stored_as_they_are():
    settings = {"iterations": 7}
    d = jf.Density(method="mle", settings=settings)
    assert d.settings is settings
    assert clone(d).get_params() == d.get_params()
    assert repr(d) == "Density(method='mle', settings={'iterations': 7})"
    assert d.set_params(method="dual").method == "dual"
    with pytest.raises(ValueError, match="Invalid parameter 'methods'"):
        d.set_params(methods=1)


def test_works_in_pipelines_and_searches(plane):
    pipeline = make_pipeline(StandardScaler(), quick())
    assert np.isfinite(pipeline.fit(plane).score(plane))
    assert pipeline.score_samples(plane).shape == (200,)
    assert cross_val_score(quick(), plane, cv=3).shape == (3,)
    search = GridSearchCV(quick(), {"method": ["dual", "mle"]}, cv=2).fit(plane)
    assert search.best_params_["method"] in ("dual", "mle")


def test_works_in_processes(plane):
    expected = [quick(random_state=seed).fit(plane).score(plane) for seed in (0, 1)]
    with joblib.Parallel(n_jobs=2) as parallel:
        fits = parallel(joblib.delayed(quick(random_state=seed).fit)(plane) for seed in (0, 1))
    assert [d.score(plane) for d in fits] == expected


def test_seeds_may_be_generators_or_nothing(plane):
    first = quick(random_state=np.random.RandomState(0)).fit(plane)
    again = quick(random_state=np.random.RandomState(0)).fit(plane)
    assert first.score(plane) == again.score(plane) != quick().fit(plane).score(plane)
    assert not np.array_equal(first.sample(3, random_state=None), first.sample(3, random_state=None))
    np.testing.assert_array_equal(first.sample(3), first.sample(3))
    assert first.sample(3, random_state=np.random.default_rng(1)).shape == (3, 2)
    with pytest.raises(ValueError, match="random_state"):
        first.sample(3, random_state=-1)


def test_an_unfitted_density_says_so():
    for use in ("score_samples", "score", "percentile", "explain", "evaluate", "save"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(jf.Density(), use)("x")
    with pytest.raises(NotFittedError):
        jf.Density().sample(3)


@pytest.mark.parametrize("options, message", [
    ({"method": "best"}, "^method: expected dual or"),
    ({"proxy": "nothing"}, "proxy: "),
    ({"preset": "fast!"}, "fast!"),
    ({"condition": ["z"]}, "condition: X has no column 'z'"),
    ({"bounds": {"x1": 3}}, "bounds: expected .lower, upper. for 'x1'"),
    ({"bounds": {"x1": (1, 0)}}, "x1"),
    ({"bounds": {"x1": (0, 1)}}, "x1"),
    ({"settings": {"iterations": "many"}}, "settings: iterations: expected a whole number, got 'many'"),
    ({"settings": {"iterations": 0}}, "iterations: expected at least 1"),
    ({"members": -2}, "members: expected a whole number from 0 on, got -2"),
    ({"n_jobs": 0}, "n_jobs"),
    ({"verbose": "loud"}, "verbose"),
    ({"random_state": 1.5}, "random_state"),
])  # fmt: skip
def test_wrong_parameters_are_refused_by_fit(options, message, plane):
    with pytest.raises(ValueError, match=message):
        quick(**options).fit(plane)


def test_wrong_kinds_of_parameters_are_refused(plane):
    with pytest.raises(TypeError, match="condition: expected a list"):
        quick(condition="x1").fit(plane)
    with pytest.raises(TypeError, match="callback"):
        quick(callback=3).fit(plane)
    d = quick().fit(plane)
    for wrong in (0, -1, 1.5, "3", True):
        with pytest.raises(ValueError, match="n_samples"):
            d.sample(wrong)
    with pytest.raises(TypeError, match="given"):
        d.sample(3, given=3)
    with pytest.raises(jf.InputError, match="given: X has no column 'x9'"):
        d.sample(3, given={"x9": 1})
    with pytest.raises(jf.InputError, match='given: column "x1" holds text'):
        d.sample(3, given={"x1": "high"})
    with pytest.raises(jf.InputError, match="conditional on x1; say on what, as in given={'x1': ...}"):
        quick(condition=["x1"]).fit(plane).sample(3)


def test_files_that_are_no_models_are_refused(tmp_path):
    (tmp_path / "no.model").write_text("nothing")
    with pytest.raises(jf.InputError, match="no.model"):
        jf.load(tmp_path / "no.model")
    with pytest.raises(FileNotFoundError, match="absent.model"):
        jf.load(tmp_path / "absent.model")


def test_members_are_a_setting(plane):
    with pytest.raises(jf.InputError, match="members"):
        quick(members="many").fit(plane)
