"""SequenceTagger: constraints and bounds, scores, callbacks, triples of labels."""

import itertools

import numpy as np
import pytest

from sskit import SequenceTagger
from sskit.datasets import make_chains

LAM = 0.1


X, Y = make_chains(25, n_features=4, n_states=3, max_length=5, min_length=1, random_state=0)


def fit(X, y, **params):
    """Return a model whose gap is at most `tol`, since P(0) is one with the Hamming loss."""
    given = {"loss": "hamming", "lam": LAM, "random_state": 0, "max_iter": 100_000, "tol": 1e-3}
    return SequenceTagger(**given | params).fit(X, y)


def test_rules_that_allow_no_long_sequence():
    X, y = [np.eye(2), np.eye(2)[:1], np.eye(2)[1:]], [[0, 1], [0], [1]]
    model = fit(X, y, tol=0.05, allowed_transitions=np.eye(2, k=1, dtype=bool))
    assert [labels.tolist() for labels in model.predict(X)] == y
    for method in (model.predict, model.decision_function, lambda X: model.predict_topk(X, 2)):
        with pytest.raises(ValueError, match="no labelling of a sequence of length 3"):
            method([np.ones((3, 2))])


def test_one_label_and_one_token():
    two, one = np.ones((2, 3)), np.ones((1, 3))
    model = SequenceTagger().fit([two, one], [["a", "a"], ["a"]])
    assert model.dual_gap_ == 0 and model.predict([one])[0].tolist() == ["a"]
    assert model.predict_topk([two], 4)[0].tolist() == [["a", "a"]]
    assert model.decision_function([two])[0].shape == (2, 1)


class Failing:
    """A callback that fails after the first pass; those that stop are tested with classifiers."""

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        raise ArithmeticError(str(fitted_estimator.score(X, y, metadata["sample_weight"])))


def test_error_in_a_callback_leaves_the_model():
    pytest.importorskip("sklearn.callback")
    model = fit(X, Y, tol=0.1)
    before = model.coef_
    with pytest.raises(ArithmeticError, match="0"):
        model.set_params(lam=1.0).set_callbacks(Failing()).fit(X, Y)
    assert model.coef_ is before


# ---- three labels in a row have a weight -----------------------------------------------------


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


def test_what_a_fitted_one_takes_and_refuses():
    model = SequenceTagger(order=2, tol=0.1, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="order=2 cannot be combined with beam_size=2"):
        model.set_params(beam_size=2).predict(X)
    with pytest.raises(ValueError, match="the features in X are too large"):
        model.set_params(beam_size=None).predict([np.full((3, 4), 1e305)])
    # a fit of the first order forgets the second
    assert not hasattr(model.set_params(order=1).fit(X, Y), "triples_")
    assert model.predict(X)[0].shape == Y[0].shape
