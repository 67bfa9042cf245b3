"""Hidden states by the likelihood: P(w) sums over all states of the labels, by enumeration."""

import numpy as np
import pytest
from helpers.labellings import all_weights
from helpers.objectives import log_loss_by_attributes
from helpers.refusals import refused
from sklearn.base import clone

from sskit import (
    CalibratedTagger,
    SequenceTagger,
    TreeTagger,
)
from sskit.solvers import BCFW

CORNERS = 2.0 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
LOG = {"surrogate": "log", "n_states_per_label": 2, "lam": 0.02, "random_state": 0}
MODELS = {"chain": SequenceTagger(**LOG), "tree": TreeTagger(**LOG)}


def crosses(n, seed=0):
    """Sequences of which each label is at two opposite corners, which no weights can tell apart."""
    rng = np.random.default_rng(seed)
    corners = [rng.integers(4, size=rng.integers(2, 6)) for _ in range(n)]
    X = [CORNERS[k] + 0.7 * rng.normal(size=(len(k), 2)) for k in corners]
    return X, [k % 2 for k in corners]


X, Y = crosses(60)
X_TEST, Y_TEST = crosses(60, seed=1)


def data_of(name, X):
    """Return sequences as they are, or as trees, each token the parent of the next two."""
    if name == "chain":
        return X
    return [(x, [-1, *(np.arange(len(x) - 1) // 2)]) for x in X]


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_objective_is_that_of_the_enumeration(name, unknown):
    inputs, labels = data_of(name, X[:8]), [y.tolist() for y in Y[:8]]
    if unknown:
        labels[2][0] = labels[5][1] = -1
    model = clone(MODELS[name]).set_params(ignore_label=-1).fit(inputs, labels)
    known = [[{0, 1} if label == -1 else label for label in y] for y in labels]
    losses = log_loss_by_attributes(model, inputs, known)
    expected = 0.5 * model.lam * np.sum(all_weights(model) ** 2) + np.mean(losses)
    assert model.primal_objective_ == pytest.approx(expected, abs=1e-10)
    assert not model.certified_
    assert np.abs(model.coef_[0] - model.coef_[1]).max() > 0.1


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_are_sums_over_the_states_of_labels(name):
    model = clone(MODELS[name]).fit(data_of(name, X), Y)
    calibrated = CalibratedTagger(model, method="likelihood", cv="prefit")
    inputs = data_of(name, X_TEST[:3])
    found = calibrated.fit(data_of(name, X), Y).predict_proba(inputs)
    for item, p in zip(inputs, found, strict=True):
        for t, k in np.ndindex(*p.shape):
            known = [{k} if s == t else {0, 1} for s in range(len(p))]
            expected = np.exp(-log_loss_by_attributes(model, [item], [known]))
            assert p[t, k] == pytest.approx(expected[0], abs=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_states_find_what_single_labels_cannot(name):
    train, test = data_of(name, X), data_of(name, X_TEST)
    model = clone(MODELS[name]).fit(train, Y)
    assert model.score(test, Y_TEST) > 0.9
    assert clone(model).set_params(n_states_per_label=1).fit(train, Y).score(test, Y_TEST) < 0.7
    by_label = clone(model).set_params(n_states_per_label={0: 2, 1: 3}).fit(train, Y)
    assert by_label.n_states_.tolist() == [2, 3]
    several = clone(model).set_params(n_init=3).fit(train, Y)
    assert several.primal_objective_ <= model.primal_objective_ * 1.02


def test_threads_weights_and_starts():
    model = clone(MODELS["chain"]).fit(X, Y)
    again = clone(model).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-9)
    # clusters of repeated tokens may differ, weights of sequences that do not count do not
    weight = np.append(np.ones(60), np.zeros(5))
    weighed = clone(model).fit([*X, *X_TEST[:5]], [*Y, *Y_TEST[:5]], sample_weight=weight)
    assert weighed.score(X_TEST, Y_TEST) == pytest.approx(model.score(X_TEST, Y_TEST), abs=0.03)
    warm = clone(model).set_params(warm_start=True).fit(X, Y)
    n_passes = warm.n_iter_
    assert warm.set_params(lam=0.015).fit(X, Y).n_iter_ <= n_passes


def test_refusals_name_what_to_change():
    for params, message in [
        ({"solver": BCFW()}, "use 'auto' or 'lbfgs'"),
        ({"prior": np.ones(9)}, "states would not be those"),
        ({"n_states_per_label": 999}, "is 999, but y has"),
    ]:
        tagger = clone(MODELS["chain"]).set_params(**params)
        with refused(tagger, ValueError, message):
            tagger.fit(X, Y)
    with pytest.raises(ValueError, match="NP-hard"):
        CalibratedTagger(MODELS["chain"], method="likelihood", risk="labelling").fit(X, Y)
