"""SequenceTagger: structure, losses, constraints, decoding, scores."""

import numpy as np
import pytest

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.metrics import token_accuracy_score
from sskit.solvers import BCFW

LAM = 0.1


@pytest.fixture(scope="module")
def chains():
    return make_chains(25, n_features=4, n_states=3, max_length=5, min_length=1, random_state=0)


def fit(X, y, **params):
    """Return a model whose gap is at most `tol`, since P(0) is one with the Hamming loss."""
    given = {"loss": "hamming", "lam": LAM, "random_state": 0, "max_iter": 100_000, "tol": 1e-3}
    return SequenceTagger(**given | params).fit(X, y)


def flat(model):
    blocks = model.coef_.ravel("F"), model.transitions_.ravel(), model.start_, model.end_
    return np.concatenate(blocks)


def test_mask(chains):
    free, everything = (
        fit(*chains, tol=0.02, allowed_transitions=mask) for mask in (None, [[True] * 3] * 3)
    )
    np.testing.assert_array_equal(everything.coef_, free.coef_)
    # one that allows no long sequence
    X, y = [np.eye(2), np.eye(2)[:1], np.eye(2)[1:]], [[0, 1], [0], [1]]
    model = fit(X, y, tol=0.05, allowed_transitions=np.eye(2, k=1, dtype=bool))
    assert [labels.tolist() for labels in model.predict(X)] == y
    for method in (model.predict, model.decision_function, lambda X: model.predict_topk(X, 2)):
        with pytest.raises(ValueError, match="no labelling of a sequence of length 3"):
            method([np.ones((3, 2))])


def test_flat_bounds_have_the_documented_order(chains):
    shapes = {"coef": (3, 4), "transitions": (3, 3), "start": 3, "end": 3}
    upper = {name: np.full(shape, np.inf) for name, shape in shapes.items()}
    upper["coef"][1, 2] = upper["transitions"][2, 0] = upper["start"][1] = upper["end"][2] = -0.2
    vector = np.concatenate(
        [block.ravel("F" if k == "coef" else "C") for k, block in upper.items()]
    )
    one, other = (
        fit(*chains, bounds=bounds)
        for bounds in ((None, vector), {name: (None, bound) for name, bound in upper.items()})
    )
    np.testing.assert_array_equal(flat(one), flat(other))
    assert max(one.coef_[1, 2], one.transitions_[2, 0], one.start_[1], one.end_[2]) <= -0.2


def test_score_is_token_accuracy(chains):
    X, y = chains
    model = fit(X, y, lam=1.0, tol=0.05)
    predicted, weight = model.predict(X), np.linspace(0, 1, len(X))
    right = np.concatenate([a == b for a, b in zip(predicted, y, strict=True)])
    assert 0.2 < right.mean() < 1
    assert model.score(X, y) == token_accuracy_score(y, predicted) == pytest.approx(right.mean())
    expected = np.average(right, weights=np.repeat(weight, [len(labels) for labels in y]))
    assert model.score(X, y, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_one_label_and_one_token():
    two, one = np.ones((2, 3)), np.ones((1, 3))
    model = SequenceTagger().fit([two, one], [["a", "a"], ["a"]])
    assert model.dual_gap_ == 0 and model.predict([one])[0].tolist() == ["a"]
    assert model.predict_topk([two], 4)[0].tolist() == [["a", "a"]]
    assert model.decision_function([two])[0].shape == (2, 1)


class StopWhenGood:
    """Stop the fit when all training tokens of the model are right."""

    def __init__(self):
        self.scores = []

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        if context.task_name == "pass":
            self.scores.append(fitted_estimator.score(X, y, metadata["sample_weight"]))
            return self.scores[-1] > 0.95


def test_callback_stops_the_fit(chains):
    pytest.importorskip("sklearn.callback")
    X, y = chains
    callback = StopWhenGood()
    # callbacks see the last iterate, not the average
    model = SequenceTagger(lam=LAM, tol=1e-9, solver=BCFW(averaging=False), random_state=0)
    model.set_callbacks(callback)
    model.fit(X, y, sample_weight=np.ones(len(X)))
    assert model.n_iter_ == len(callback.scores) < 1000
    assert callback.scores[-1] == model.score(X, y)
    assert max(callback.scores[:-1]) <= 0.95 and model.dual_gap_ > 1e-9


def test_error_in_a_callback_leaves_the_model(chains):
    pytest.importorskip("sklearn.callback")
    callback, model = StopWhenGood(), fit(*chains, tol=0.1)
    before = flat(model)
    callback.scores = None
    with pytest.raises(AttributeError, match="append"):
        model.set_params(lam=1.0).set_callbacks(callback).fit(*chains)
    np.testing.assert_array_equal(flat(model), before)
    model.set_callbacks().set_params(lam=LAM).fit(*chains)
    np.testing.assert_array_equal(flat(model), before)
