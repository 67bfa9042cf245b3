"""Paths of folds end when their score has been below its best for long."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import KFold

from sskit import RegularizationPath, SequenceTagger, StructSVMClassifier
from sskit.datasets import make_digit_strings
from sskit.estimators.path.selection import Patience
from sskit.estimators.path.tracing import TracedPath

FOLDS = KFold(3, shuffle=True, random_state=0)


def lams_until_it_ends(patience, models):
    """The lam of the models that are looked at."""
    looked = []
    for score, lam in models:
        looked.append(lam)
        if patience.ends(score, lam):
            break
    return looked


@pytest.mark.parametrize(
    ("scores", "n"),
    [
        ([0.5, 0.6, 0.5, 0.4, 0.4, 0.4], 5),  # lam falls by ten, twice is enough and thrice too far
        ([0.5, 0.6, 0.5, 0.4, 0.7, 0.4, 0.4], 7),  # a new best begins anew
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.3], 6),  # as good as the best is no fall
        ([0.5, 0.4, 0.4, 0.4, 0.5], 4),
    ],
)
def test_the_score_has_to_stay_below_its_best(scores, n):
    lams = 10.0 ** -np.arange(len(scores))
    looked = lams_until_it_ends(Patience(101.0, 1e9), zip(scores, lams, strict=True))
    np.testing.assert_array_equal(looked, lams[:n])


def test_where_little_is_learned_a_score_may_fall_for_long():
    lams, scores = 10.0 ** -np.arange(8), [0.5, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.6]
    for start, n in ((1e9, 4), (0.1, 5), (1e-4, 8)):
        models = zip(scores, lams, strict=True)
        assert len(lams_until_it_ends(Patience(101.0, start), models)) == n


def test_for_ever():
    models = [(1.0, 1.0), (0.0, 1e-300), (0.0, 0.0)]
    assert len(lams_until_it_ends(Patience(np.inf, 1.0), models[:2])) == 2


def test_a_score_that_is_no_number_ends_nothing():
    assert (
        len(lams_until_it_ends(Patience(2.0, 1.0), [(np.nan, 1.0), (0.5, 0.1), (0.6, 0.01)])) == 3
    )


def strings(n=40):
    return make_digit_strings(n, random_state=0)


def shrinking(model, X, y):
    """A score that is best at lam = 0.1."""
    return -abs(np.log(model.lam_ / 0.1))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_what_nobody_would_choose_is_not_traced(n_jobs):
    X, y = strings()
    options = {"cv": FOLDS, "scoring": shrinking, "lam_min": 1e-4, "n_jobs": n_jobs}
    with parallel_config(backend="threading"):
        short, whole = (
            RegularizationPath(
                SequenceTagger(random_state=0), patience=patience, refit=False, **options
            ).fit(X, y)
            for patience in (10.0, None)
        )
    assert whole.lam_end_ <= 1e-4 < 1e-3 < short.lam_end_ < 0.1 / 10
    # as far as they go they are the same
    n = len(short.lams_)
    np.testing.assert_array_equal(short.lams_, whole.lams_[:n])
    np.testing.assert_array_equal(short.coefs_, whole.coefs_[:n])
    m = len(short.cv_results_["params"])
    assert m < len(whole.cv_results_["params"])
    for name in ("param_lam", "mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(short.cv_results_[name], whole.cv_results_[name][:m])
    assert short.best_lam_ == whole.best_lam_
    assert short.cv_n_oracle_calls_ < whole.cv_n_oracle_calls_
    assert short.lam_end_ <= short.best_lam_


def test_the_default_lam_of_the_folds_is_no_end_of_the_path():
    X, y = strings()
    path = RegularizationPath(SequenceTagger(random_state=0), cv=FOLDS, patience=1e9).fit(X, y)
    assert path.lam_end_ <= 1e-3 * SequenceTagger(random_state=0).fit(X, y).lam_


@pytest.mark.parametrize(
    ("kernel", "bounds"), [("linear", None), ("linear", (-0.5, 0.5)), ("rbf", None)]
)
def test_with_kernels_boxes_and_weights(kernel, bounds):
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = np.eye(3)[y] + rng.normal(size=(45, 3))
    estimator = StructSVMClassifier(kernel=kernel, bounds=bounds, rescaling="slack", random_state=0)
    path = RegularizationPath(estimator, cv=FOLDS, scoring=shrinking, patience=10.0, lam_min=1e-4)
    path.fit(X, y, sample_weight=rng.uniform(0.5, 2.0, size=45))
    assert path.lam_end_ <= path.best_lam_
    assert bounds is not None or path.lam_end_ > 1e-4  # in a box one model may serve all the rest
    for lam in np.geomspace(path.lam_end_, 2 * path.lams_[0], 20)[1:]:
        assert path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)


def test_the_fit_of_the_choice_comes_last():
    """Whoever ends it by Ctrl-C is not made to wait for a path."""
    X, y = strings()
    path = RegularizationPath(SequenceTagger(random_state=0), cv=FOLDS, lam_min=0.05)
    seen = []
    fit, begin = SequenceTagger.fit, TracedPath.begin

    def watched(function, name):
        def call(self, *args, **options):
            seen.append(name)
            return function(self, *args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SequenceTagger, "fit", watched(fit, "fit"))
        patch.setattr(TracedPath, "begin", watched(begin, "path"))
        path.fit(X, y)
    assert seen == ["path"] * 4 + ["fit"]


@pytest.mark.parametrize("patience", [0.5, -1, "long", np.nan, np.inf])
def test_wrong_patience(patience):
    X, y = strings(6)
    with pytest.raises(ValueError, match="'patience' parameter of RegularizationPath must be"):
        RegularizationPath(SequenceTagger(), patience=patience, cv=2).fit(X, y)


def test_wrong_shares():
    for eps in (0.0, 1.0, 2):
        with pytest.raises(ValueError, match="'eps' parameter of RegularizationPath must be"):
            RegularizationPath(SequenceTagger(), eps=eps).fit(*strings(6))


def test_rare_labels_are_learned_before_a_path_is_good_enough():
    """Of 4,000 tokens 20 are of a rare kind; at the default lam a tagger knows them."""
    rng = np.random.default_rng(0)
    y = [(rng.uniform(size=20) < 0.01).astype(int) for _ in range(200)]
    X = [np.column_stack([np.ones(20), t + 0.15 * rng.normal(size=20)]) for t in y]
    tokens = np.concatenate(y)

    def recall(model, X, y):
        found, truth = np.concatenate(list(model.predict(X))), np.concatenate(y)
        return float(found[truth == 1].mean()) if (truth == 1).any() else 1.0

    assert 10 < tokens.sum() < 80
    path = RegularizationPath(SequenceTagger(random_state=0), cv=FOLDS, scoring=recall).fit(X, y)
    default = SequenceTagger(random_state=0).fit(X, y)
    assert recall(path.best_estimator_, X, y) >= recall(default, X, y) - 0.05
    assert recall(path.best_estimator_, X, y) > 0.8
