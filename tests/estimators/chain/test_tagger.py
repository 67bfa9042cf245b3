"""SequenceTagger: structure, losses, constraints, decoding, scores."""

import numpy as np
import pytest
from helpers.labellings import follows, score_labellings

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.metrics import convert_tags, token_accuracy_score
from sskit.solvers import BCFW

LAM = 0.1
BIO = np.array(["B-x", "B-y", "I-x", "I-y", "O"])


@pytest.fixture(scope="module")
def chains():
    return make_chains(25, n_features=4, n_states=3, max_length=5, min_length=1, random_state=0)


@pytest.fixture(scope="module")
def noisy():
    """Return chains that are hard to label, and labels that keep to the BIO scheme."""
    X, y = make_chains(40, n_features=5, n_states=5, noise=3.0, max_length=7, random_state=3)
    given = [BIO[states] for states in y]
    return X, convert_tags(given, "bio", "bio", strict=False)


def fit(X, y, **params):
    """Return a model whose gap is at most `tol`, since P(0) is one with the Hamming loss."""
    given = {"loss": "hamming", "lam": LAM, "random_state": 0, "max_iter": 100_000, "tol": 1e-3}
    return SequenceTagger(**given | params).fit(X, y)


def flat(model):
    blocks = model.coef_.ravel("F"), model.transitions_.ravel(), model.start_, model.end_
    return np.concatenate(blocks)


def test_bio_predictions_keep_to_the_scheme(noisy):
    X, y = noisy
    free, model = (
        fit(X, y, tol=0.1, loss="hamming_sum", allowed_transitions=rules) for rules in (None, "bio")
    )
    nonsense = list(np.random.default_rng(0).normal(scale=5.0, size=(100, 7, 5)))
    rules, start = model.allowed_transitions_, model.allowed_start_

    def are_bio(found):
        codes = [np.searchsorted(BIO, labels) for labels in found]
        return all(rules[k[:-1], k[1:]].all() and start[k[0]] for k in codes)

    assert rules.tolist() == [[b[0] != "I" or a[1:] == b[1:] for b in BIO] for a in BIO]
    assert not are_bio(free.predict(nonsense))
    assert are_bio(model.predict(X)) and are_bio(model.predict(nonsense))
    short = [x[:3] for x in X[:10]]
    best, tables = model.predict_topk(short, 6), model.decision_function(short)
    for x, found, table in zip(short, best, tables, strict=True):
        labels, values = score_labellings(model, x)
        values[~(follows(labels, rules) & start[labels[:, 0]])] = -np.inf
        order = np.argsort(-values)[:6]
        assert found.tolist() == BIO[labels[order]].tolist()
        np.testing.assert_allclose(table.max(axis=1), values[order[0]], atol=1e-9)
        np.testing.assert_array_equal(np.isneginf(table[0]), [False, False, True, True, False])
    assert (model.transitions_[4, 2:4] == 0).all(), "a forbidden transition has no weight"


def test_mask(chains):
    X, y = chains
    seen = np.zeros((3, 3), dtype=bool)
    for states in y:
        seen[states[:-1], states[1:]] = True
    seen[2, 1] = False
    kept = [i for i, states in enumerate(y) if seen[states[:-1], states[1:]].all()]
    X, y = [X[i] for i in kept], [y[i] for i in kept]
    new = list(3 * np.random.default_rng(0).normal(size=(50, 9, 4)))
    free, everything, *masked = (
        fit(X, y, tol=0.02, allowed_transitions=mask)
        for mask in (None, np.ones((3, 3), dtype=bool), seen, seen.tolist())
    )
    for model in (free, *masked):
        legal = all(seen[labels[:-1], labels[1:]].all() for labels in model.predict(new))
        assert legal == (model is not free)
    np.testing.assert_array_equal(everything.coef_, free.coef_)


def test_mask_that_allows_no_long_sequence():
    mask = np.array([[False, True], [False, False]])
    X = [np.eye(2), np.eye(2)[:1], np.eye(2)[1:]]
    y = [[0, 1], [0], [1]]
    model = fit(X, y, tol=0.05, allowed_transitions=mask)
    assert [labels.tolist() for labels in model.predict(X)] == y
    for method in (model.predict, model.decision_function, lambda X: model.predict_topk(X, 2)):
        with pytest.raises(ValueError, match="no labelling of a sequence of length 3"):
            method([np.ones((3, 2))])


def test_bounds(chains):
    X, y = chains
    free, inf = fit(X, y).primal_objective_, np.inf
    for bounds in (
        (0, inf),
        (-0.05, 0.1),
        {"coef": (0, inf)},
        {"transitions": (np.full((3, 3), -0.1), 0.05), "end": (-inf, 0)},
    ):
        model, hit = fit(X, y, bounds=bounds), 0
        blocks = ("coef", "transitions", "start", "end")
        boxes = bounds if isinstance(bounds, dict) else dict.fromkeys(blocks, bounds)
        for block, (lower, upper) in boxes.items():
            weights = getattr(model, f"{block}_")
            assert (weights >= lower).all() and (weights <= upper).all()
            hit += ((weights == lower) | (weights == upper)).sum()
        assert hit > 0 and model.primal_objective_ > free


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


def test_score_is_token_accuracy(noisy):
    X, y = noisy
    model = fit(X, y, tol=0.05)
    predicted, weight = model.predict(X), np.linspace(0, 1, len(X))
    right = np.concatenate([a == b for a, b in zip(predicted, y, strict=True)])
    assert 0.2 < right.mean() < 1
    assert model.score(X, y) == pytest.approx(right.mean(), rel=1e-12)
    assert model.score(X, y) == token_accuracy_score(y, predicted)
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
    X, y = chains
    callback = StopWhenGood()
    model = fit(X, y, tol=0.1)
    before = flat(model)
    callback.scores = None
    with pytest.raises(AttributeError, match="append"):
        model.set_params(lam=1.0).set_callbacks(callback).fit(X, y)
    np.testing.assert_array_equal(flat(model), before)
    model.set_callbacks().set_params(lam=LAM).fit(X, y)
    np.testing.assert_array_equal(flat(model), before)
