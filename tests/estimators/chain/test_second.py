"""SequenceTagger(order=2): three labels in a row have a weight."""

import itertools
import pickle

import numpy as np
import pytest
from helpers.objectives import bracket

from sskit import SequenceTagger
from sskit.datasets import make_chains

EXACT = {"lam": 0.3, "tol": 1e-3, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_chains(30, n_features=4, n_states=3, min_length=1, max_length=6, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return SequenceTagger(order=2, **EXACT).fit(*data)


def test_without_triples_it_is_the_first_order(data, fitted):
    first = SequenceTagger(**EXACT).fit(*data)
    second = SequenceTagger(order=2, bounds={"triples": (0.0, 0.0)}, **EXACT).fit(*data)
    assert not second.triples_.any()
    bracket(first, second)
    assert second.primal_objective_ == pytest.approx(first.primal_objective_, rel=2e-3)
    assert fitted.primal_objective_ < second.dual_objective_


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


def test_a_prior_by_block(data):
    prior = {"triples_": np.arange(27.0).reshape(3, 3, 3)}
    strong = SequenceTagger(order=2, prior=prior, **EXACT | {"lam": 1e4}).fit(*data)
    np.testing.assert_allclose(strong.triples_, prior["triples_"], atol=1e-2)
    with pytest.raises(ValueError, match="triples"):
        SequenceTagger(order=2, prior={"triples_": np.ones((3, 3))}).fit(*data)


def test_what_a_fitted_one_takes_and_refuses(data, fitted):
    X, y = data
    model = pickle.loads(pickle.dumps(fitted))
    model.set_params(allowed_transitions=~np.eye(3, dtype=bool))
    assert all((np.diff(labels) != 0).all() for labels in model.predict(X))
    with pytest.raises(ValueError, match="order=2 cannot be combined with beam_size=2"):
        model.set_params(beam_size=2).predict(X)
    model.set_params(beam_size=None, allowed_transitions=None).triples_ = np.zeros((3, 3))
    for call, told in (
        (lambda: model.predict(X), r"triples_ must have the shape \(3, 3, 3\)"),
        (lambda: fitted.predict([np.full((3, 4), 1e305)]), "the features in X are too large"),
        *(
            (lambda order=order: SequenceTagger(order=order).fit(X, y), "'order' parameter")
            for order in (0, 3, "2", None, 1.5)
        ),
    ):
        with pytest.raises(ValueError, match=told):
            call()
    # a fit of the first order forgets the second
    assert not hasattr(model.set_params(order=1).fit(X, y), "triples_")
    assert model.predict(X)[0].shape == y[0].shape
