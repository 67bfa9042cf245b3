"""What dual-decomposed training makes of odd and of bad data."""

import numpy as np
import pytest

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.metrics import sequence_accuracy_scorer, token_accuracy_scorer
from sskit.solvers import GDMM


@pytest.fixture(scope="module")
def chains():
    return make_chains(20, n_states=4, random_state=0)


def tagger(**options):
    return SequenceTagger(**{"lam": 1.0, "solver": "gdmm", "random_state": 0} | options)


def test_sequences_of_one_token_among_others(chains):
    X, y = chains
    X, y = [x[:1] for x in X[:8]] + X[8:], [labels[:1] for labels in y[:8]] + y[8:]
    other = tagger(solver="bcfw", tol=1e-3).fit(X, y)
    model = tagger(tol=1e-3, max_iter=5000).fit(X, y)
    assert model.certified_
    unit = np.mean([len(labels) for labels in y])
    assert abs(model.primal_objective_ - other.primal_objective_) <= 2e-3 * unit
    assert [len(labels) for labels in model.predict(X)] == [len(labels) for labels in y]


def test_only_sequences_of_one_token(chains):
    X, y = chains
    X, y = [x[:1] for x in X], [labels[:1] for labels in y]
    model = tagger(tol=1e-3).fit(X, y)
    assert model.certified_
    assert (model.history_["infeasibility"] == 0.0).all()
    assert not model.transitions_.any()


def test_one_label(chains):
    X, _ = chains
    y = [np.zeros(len(x), dtype=int) for x in X]
    for solver in (GDMM(), GDMM(gap_every=None), GDMM(method="afw")):
        model = tagger(solver=solver).fit(X, y)
        assert not model.coef_.any()
        assert model.n_iter_ <= 10
        assert model.score(X, y) == 1.0


def test_labels_that_training_has_not_seen(chains):
    X, y = chains
    model = tagger(tol=0.1).fit(X[:15], [np.minimum(labels, 2) for labels in y[:15]])
    X, y = X[15:], y[15:]
    predicted, truth = np.concatenate(model.predict(X)), np.concatenate(y)
    assert set(predicted) <= {0, 1, 2}
    assert (truth == 3).any()
    # they count as errors, in every score
    assert model.score(X, y) == np.mean(predicted == truth) == token_accuracy_scorer(model, X, y)
    whole = [np.array_equal(a, b) for a, b in zip(model.predict(X), y, strict=True)]
    assert sequence_accuracy_scorer(model, X, y) == np.mean(whole)


def test_features_that_are_too_large_are_refused(chains):
    X, y = chains
    model = tagger()
    with pytest.raises(ValueError, match=r"features in X are too large.* in X\[5\]"):
        model.fit([*X[:5], X[5] * 1e200, *X[6:]], y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_no_numbers_are_named(chains, value):
    X, y = chains
    X = [x.copy() for x in X]
    X[7][0, 0] = value
    model = tagger(tol=0.1).fit(X[:7], y[:7])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"X\[7\]"):
        model.fit(X, y)
    assert vars(model) == before


def test_data_are_left_alone(chains):
    X, y = chains
    kept = [x.copy() for x in X], [labels.copy() for labels in y]
    tagger(tol=0.1).fit(X, y)
    for data, copies in zip((X, y), kept, strict=True):
        for item, copied in zip(data, copies, strict=True):
            np.testing.assert_array_equal(item, copied)
