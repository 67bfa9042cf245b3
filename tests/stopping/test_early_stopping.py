"""Fits that end by the score on held-out data."""

import numpy as np
import pytest
from helpers.fits import FITS
from helpers.ragged_checks import CHECKS
from helpers.structures import Signs
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from sskit import (
    EarlyStopping,
    PartsModel,
    RankingSVM,
    RegularizationPath,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
)
from sskit.datasets import make_chains
from sskit.solvers import GDMM


@pytest.fixture(scope="module")
def chains():
    return make_chains(40, n_states=4, random_state=0)


def tagger(**options):
    return SequenceTagger(**{"lam": 0.3, "tol": 0.0, "random_state": 0} | options)


def test_patience(chains):
    scores, asked = [0.1, 0.5, 0.3, 0.5, 0.4, 0.9], []

    def scorer(estimator, X, y):
        asked.append(1)
        return scores[len(asked) - 1]

    options = {"n_iter_no_change": 3, "random_state": 0}
    model = EarlyStopping(tagger(solver="bcfw"), scoring=scorer, **options).fit(*chains)
    # the earlier one of two equal scores is the best
    assert (model.best_iter_, model.n_iter_, len(asked)) == (2, 5, 5)
    assert model.best_score_ == 0.5 and model.estimator_.n_iter_ == 2
    np.testing.assert_array_equal(model.scores_["n_passes"], np.arange(1, 6))
    np.testing.assert_array_equal(model.scores_["score"], scores[:5])


def parts(held_out, *data):
    """What is trained on of data, and what is held out."""
    held_out = set(held_out)
    return [
        [[items[i] for i in range(len(items)) if (i in held_out) == out] for items in data]
        for out in (False, True)
    ]


@pytest.mark.parametrize("solver", ["bcfw", "mpbcfw", "fw", "ssg", "one_slack", "gdmm"])
def test_the_best_weights_are_kept(solver, chains):
    X, y = chains
    estimator = tagger(solver=GDMM(gap_every=None) if solver == "gdmm" else solver)
    options, seen = {"n_iter_no_change": 2, "random_state": 0}, []

    def scorer(estimator, X, y):
        seen.append(estimator.coef_.copy())
        return [0.0, 0.7, 0.2, 0.1][len(seen) - 1]

    model = EarlyStopping(estimator, scoring=scorer, **options).fit(X, y)
    fitted = model.estimator_
    assert len(seen) == model.n_iter_ == 4 and not fitted.certified_
    np.testing.assert_array_equal(fitted.coef_, seen[1])
    assert not np.array_equal(seen[1], seen[3])
    assert np.isnan([fitted.dual_gap_, fitted.primal_objective_, fitted.dual_objective_]).all()


def test_scores_are_those_of_the_weights_of_the_moment(chains):
    X, y = chains
    options = {"validation_fraction": 0.3, "n_iter_no_change": 4, "random_state": 1}
    model = EarlyStopping(tagger(solver="gdmm"), **options).fit(X, y)
    assert len(model.validation_indices_) == 12
    _, held_out = parts(model.validation_indices_, X, y)
    assert model.best_score_ == model.scores_["score"].max() > 0.5
    assert model.estimator_.score(*held_out) == model.score(*held_out) == model.best_score_
    assert model.scores_["score"][model.best_iter_ - 1] == model.best_score_
    assert model.n_iter_ == model.best_iter_ + 4


def test_held_out_data_are_not_trained_on(chains):
    X, y = chains
    model, other = (
        EarlyStopping(tagger(solver="gdmm"), n_iter_no_change=2, random_state=seed).fit(X, y)
        for seed in (3, 4)
    )
    held_out = model.validation_indices_
    # an integer seeds what is held out
    np.testing.assert_array_equal(held_out, np.sort(np.random.RandomState(3).permutation(40)[:4]))
    assert not np.array_equal(held_out, other.validation_indices_)
    train, test = parts(held_out, X, y)
    same = clone(model).fit(*train, X_val=test[0], y_val=test[1])
    for again in (same, clone(model).fit(X, y)):
        np.testing.assert_array_equal(again.estimator_.coef_, model.estimator_.coef_)
        np.testing.assert_array_equal(again.scores_["score"], model.scores_["score"])
    assert len(same.validation_indices_) == 0
    # labels that training has not seen are wrong ones
    model.fit(X, y, X_val=X[:5], y_val=[np.full(len(labels), 99) for labels in y[:5]])
    assert (model.best_score_, model.best_iter_, model.n_iter_) == (0.0, 1, 3)
    for fraction, count in ((1e-6, 1), (1 - 1e-6, 4)):
        model.set_params(validation_fraction=fraction, n_iter_no_change=1).fit(X[:5], y[:5])
        assert len(model.validation_indices_) == count


def test_bad_input(chains):
    X, y = chains
    for other in (GridSearchCV(tagger(), {"lam": [1.0]}), RegularizationPath(tagger())):
        message = rf"one of this package, .*\(\), got {type(other).__name__}"
        with pytest.raises(TypeError, match=message):
            EarlyStopping(other).fit(X, y)
    data, rows, classes = (X, y), np.arange(8.0)[:, None], np.repeat([0, 1], [7, 1])
    broken = [[*X[:k], X[k] * np.nan, *X[k + 1 :]] for k in (2, 21)]
    for parameters, args, further, message in (
        ({}, data, {"X_val": X}, "X_val and y_val must be given together"),
        ({}, (X[:1], y[:1]), {}, "at least 2 are needed to hold one out"),
        ({"scoring": lambda *data: np.nan}, data, {}, "no score of the held-out data is a number"),
        ({"scoring": lambda *data: np.ma.masked}, data, {}, "scoring must .* got masked"),
        ({}, data, {"sample_weight": np.ones(3)}, "sample_weight"),
        ({}, (broken[0], y), {}, r"X\[2\].*NaN"),
        ({}, (broken[1], y), {}, r"X\[21\].*NaN"),
        ({}, (X, [*y[:7], y[7][:1], *y[8:]]), {}, r"X\[7\] has \d+ rows but y\[7\] has 1 "),
        *(({"estimator": StructSVMClassifier(), "random_state": 1}, (rows, labels), {},
           "^y must have at least 2 classes") for labels in (classes, np.zeros(8))),
    ):  # fmt: skip
        given = {"estimator": tagger(), "n_iter_no_change": 2, "random_state": 0} | parameters
        with pytest.raises(ValueError, match=message):
            EarlyStopping(**given).fit(*args, **further)
    with pytest.raises(NotFittedError):
        EarlyStopping(tagger()).predict(X)


# one sequence cannot be trained on and held out; the other one starts processes
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_checks_of_ragged_estimators(check):
    if check.__name__ != "check_fit_of_one_sequence":
        check(EarlyStopping(SequenceTagger(tol=0.1, random_state=0), random_state=0))


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_only_what_is_trained_on_is_bound(name, monkeypatch):
    X, y = FITS[name].data()
    estimator, bound = clone(FITS[name].estimator).set_params(max_iter=2, random_state=0), []

    def bind(self, *data, **further):
        bound.append(original(self, *data, **further))
        return bound[-1]

    original = type(estimator)._make_task
    monkeypatch.setattr(type(estimator), "_make_task", bind)
    model = EarlyStopping(estimator, validation_fraction=0.3, random_state=0).fit(X, y)
    # without groups all rows are one set
    sets = isinstance(estimator, RankingSVM)
    n_blocks = 1 if sets else len(y) - len(model.validation_indices_)
    assert [found.problem.n_blocks for found in bound] == [n_blocks]


def test_complaints_of_a_model_object_name_the_items_of_the_data():
    """Not those of the fraction that is trained on."""
    X, labels = np.random.default_rng(0).normal(size=(12, 3)), [-1, 1] * 6
    stopping = EarlyStopping(StructuredSVM(Signs(), random_state=0), random_state=0)
    held_out = stopping.set_params(validation_fraction=0.4).fit(X, labels).validation_indices_
    for k in sorted(set(range(12)) - set(held_out)):
        # with notes, or by an exception of their own as in Python 3.10
        with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
            stopping.fit(X, [*labels[:k], "none", *labels[k + 1 :]])
        told = [str(caught.value), *getattr(caught.value, "__notes__", ())]
        assert any(f"sample {k} " in said for said in told)


def test_the_random_state_of_the_estimator_is_for_its_fit_alone(chains):
    """Positions are clustered with it too; looking at the data first draws nothing from it."""
    X, y = FITS["parts"].data()
    estimator = PartsModel([1, -1, 1], n_types=2, tol=0, random_state=np.random.RandomState(5))
    before = estimator.random_state.get_state()[1].copy()
    model = EarlyStopping(estimator, n_iter_no_change=1, random_state=0).fit(X, y)
    train, test = parts(model.validation_indices_, X, y)
    same = EarlyStopping(estimator, n_iter_no_change=1).fit(*train, X_val=test[0], y_val=test[1])
    for name in ("coef_", "types_", "springs_", "means_"):
        one, other = (getattr(fitted.estimator_, name) for fitted in (model, same))
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(estimator.random_state.get_state()[1], before)
    # one that both have is drawn from in turn
    (X, y), rng, twin = chains, np.random.RandomState(1), np.random.RandomState(1)
    model = EarlyStopping(tagger(random_state=rng), n_iter_no_change=1, random_state=rng).fit(X, y)
    train, test = parts(np.sort(twin.permutation(40)[:4]), X, y)
    other = EarlyStopping(tagger(random_state=twin), n_iter_no_change=1)
    other.fit(*train, X_val=test[0], y_val=test[1])
    np.testing.assert_array_equal(model.estimator_.coef_, other.estimator_.coef_)


def test_weights_of_tokens(chains):
    X, y = chains
    stopped = EarlyStopping(SequenceTagger(random_state=0), random_state=0)
    weight = [np.where(np.arange(len(labels)) % 2, 1.0, 3.0) for labels in y]
    stopped.fit(X, y, token_weight=weight)
    (*train, weights), (*test, _) = parts(stopped.validation_indices_, X, y, weight)
    other = clone(stopped).fit(*train, X_val=test[0], y_val=test[1], token_weight=weights)
    np.testing.assert_array_equal(stopped.estimator_.coef_, other.estimator_.coef_)
    assert (clone(stopped).fit(X, y).estimator_.coef_ != stopped.estimator_.coef_).any()
    with pytest.raises(ValueError, match=r"token_weight\[3\]"):
        stopped.fit(X, y, token_weight=[*weight[:3], weight[3][1:], *weight[4:]])
    with pytest.raises(TypeError, match="StructSVMClassifier.fit takes no weights of tokens"):
        EarlyStopping(StructSVMClassifier()).fit(*FITS["rows"].data(), token_weight=[1.0] * 24)
