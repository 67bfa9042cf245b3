"""SequenceTagger(order=2): three labels in a row have a weight."""

import itertools
import pickle

import numpy as np
import pytest

from sskit import SequenceTagger
from sskit.datasets import make_chains

EXACT = {"lam": 0.3, "tol": 1e-3, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_chains(30, n_features=4, n_states=3, min_length=1, max_length=6, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return SequenceTagger(order=2, **EXACT).fit(*data)


def two_back(seed):
    """Labels that the label before the last one tells, and features that hardly do."""
    rng = np.random.default_rng(seed)
    y = np.zeros((60, 12), dtype=int)
    for labels in y:
        labels[:2] = rng.integers(3, size=2)
        for t in range(2, 12):
            labels[t] = (labels[t - 2] + 1) % 3 if rng.random() < 0.95 else rng.integers(3)
    return list(0.7 * np.eye(3)[y] + rng.normal(size=(60, 12, 3))), list(y)


def test_without_triples_it_is_the_first_order(data, fitted):
    first = SequenceTagger(**EXACT).fit(*data)
    second = SequenceTagger(order=2, bounds={"triples": (0.0, 0.0)}, **EXACT).fit(*data)
    assert not second.triples_.any()
    low = max(first.dual_objective_, second.dual_objective_)
    assert low <= min(first.primal_objective_, second.primal_objective_) + 1e-12
    assert second.primal_objective_ == pytest.approx(first.primal_objective_, rel=2e-3)
    assert fitted.primal_objective_ < second.dual_objective_


def test_it_learns_what_two_labels_before_tell():
    (X, y), test = two_back(0), two_back(1)
    one, two = (SequenceTagger(order=k, random_state=0).fit(X, y).score(*test) for k in (1, 2))
    assert two > one + 0.1


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_schemes_of_tags_are_kept(n_jobs):
    rng, forms = np.random.default_rng(0), ["OBIO", "BII", "BBIOO", "O", "OB"]
    names = {"O": "O", "B": "B-x", "I": "I-x"}
    y = [[names[tag] for tag in form] for form in rng.choice(forms, 20)]
    X = [rng.normal(size=(len(labels), 3)) for labels in y]
    model = SequenceTagger(order=2, allowed_transitions="bio", n_jobs=n_jobs, random_state=0)
    model.fit(X, y)
    found = model.predict([rng.normal(size=(int(n), 3)) for n in rng.integers(1, 9, size=40)])
    for labels in found:
        assert labels[0] != "I-x" and ("O", "I-x") not in list(itertools.pairwise(labels))
    triples = itertools.product(model.classes_, repeat=3)
    worst = np.array([("O", "I-x") in itertools.pairwise(p) for p in triples])
    assert not model.triples_.ravel()[worst].any()
    with pytest.raises(ValueError, match=r"^y\[0\]\[0\] is"):
        model.fit(X[:1], [["I-x"] * len(X[0])])


def test_bounds_and_prior_by_block(data, fitted):
    model = SequenceTagger(order=2, bounds={"triples": (-0.01, 0.02)}, **EXACT).fit(*data)
    assert model.triples_.min() >= -0.01 and model.triples_.max() <= 0.02
    assert model.primal_objective_ > fitted.dual_objective_
    prior = {"triples_": np.arange(27.0).reshape(3, 3, 3)}
    strong = SequenceTagger(order=2, prior=prior, **EXACT | {"lam": 1e4}).fit(*data)
    np.testing.assert_allclose(strong.triples_, prior["triples_"], atol=1e-2)
    near = SequenceTagger(order=2, prior=fitted, **EXACT).fit(*data)
    assert near.primal_objective_ < fitted.primal_objective_
    with pytest.raises(ValueError, match="triples"):
        SequenceTagger(order=2, prior={"triples_": np.ones((3, 3))}).fit(*data)


def test_what_a_fitted_one_takes_and_refuses(data, fitted):
    X, y = data
    found = fitted.predict([X[0], np.empty((0, 4)), X[1]])
    assert [len(labels) for labels in found] == [len(X[0]), 0, len(X[1])]
    model = pickle.loads(pickle.dumps(fitted))
    for triples, message in (
        (None, "triples_ must be an array of numbers"),
        (np.zeros((3, 3)), r"triples_ must have the shape \(3, 3, 3\)"),
        (np.full((3, 3, 3), np.nan), r"triples_\[0, 0, 0\] is nan"),
    ):
        model.triples_ = triples
        with pytest.raises(ValueError, match=message):
            model.predict(X)
    model.triples_ = fitted.triples_
    model.set_params(allowed_transitions=~np.eye(3, dtype=bool))
    assert all((np.diff(labels) != 0).all() for labels in model.predict(X))
    with pytest.raises(ValueError, match="order=2 cannot be combined with beam_size=2"):
        model.set_params(beam_size=2).predict(X)
    with pytest.raises(ValueError, match="the features in X are too large"):
        fitted.predict([np.zeros((1, 4)), np.full((3, 4), 1e305)])
    for order in (0, 3, "2", None, 1.5):
        with pytest.raises(ValueError, match="'order' parameter"):
            SequenceTagger(order=order).fit(X, y)
    # a fit of the first order forgets the second, if it does not have to go on
    model.set_params(warm_start=True, beam_size=None, allowed_transitions=None).fit(X, y)
    with pytest.raises(ValueError, match="warm_start=True cannot continue the last fit"):
        model.set_params(order=1).fit(X, y)
    model.set_params(warm_start=False).fit(X, y)
    assert not hasattr(model, "triples_") and model.predict(X)[0].shape == y[0].shape
