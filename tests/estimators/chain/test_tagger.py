"""SequenceTagger: structure, losses, constraints, decoding, scores."""

import numpy as np
import pytest
from helpers.labellings import follows, score_labellings

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.metrics import token_accuracy_score
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
    labels = []
    for states in y:
        names = BIO[states].tolist()
        for t, name in enumerate(names):
            before = names[t - 1] if t else "O"
            if name.startswith("I") and before[1:] != name[1:]:
                names[t] = "B" + name[1:]
        labels.append(np.array(names))
    return X, labels


def fit(X, y, tol=1e-3, **params):
    """Return a model whose gap is at most `tol`, since P(0) is one with the Hamming loss."""
    params = {
        "loss": "hamming",
        "lam": LAM,
        "random_state": 0,
        "max_iter": 100_000,
        "tol": tol,
    } | params
    weight = params.pop("sample_weight", None)
    return SequenceTagger(**params).fit(X, y, sample_weight=weight)


def flat(model):
    return np.concatenate(
        [model.coef_.ravel("F"), model.transitions_.ravel(), model.start_, model.end_]
    )


def test_bio_predictions_keep_to_the_scheme(noisy):
    X, y = noisy
    free, model = (
        fit(X, y, tol=0.1, loss="hamming_sum", allowed_transitions=allowed)
        for allowed in (None, "bio")
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
    X_kept, y_kept = [X[i] for i in kept], [y[i] for i in kept]
    rng = np.random.default_rng(0)
    new = [3 * rng.normal(size=(9, 4)) for _ in range(50)]
    for mask in (seen, seen.tolist()):
        model = fit(X_kept, y_kept, tol=0.02, allowed_transitions=mask)
        assert all(seen[labels[:-1], labels[1:]].all() for labels in model.predict(new))
    free = fit(X_kept, y_kept, tol=0.02)
    assert not all(seen[labels[:-1], labels[1:]].all() for labels in free.predict(new))
    everything = fit(X_kept, y_kept, tol=0.02, allowed_transitions=np.ones((3, 3), dtype=bool))
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
    blocks, free = ("coef", "transitions", "start", "end"), fit(X, y)
    for bounds in (
        (0, None),
        (-0.05, 0.1),
        {"coef": (0, None)},
        {"transitions": (np.full((3, 3), -0.1), 0.05), "end": (None, 0)},
    ):
        model, hit = fit(X, y, bounds=bounds), 0
        boxes = bounds if isinstance(bounds, dict) else dict.fromkeys(blocks, bounds)
        for block, (lower, upper) in boxes.items():
            weights = getattr(model, f"{block}_")
            lower = -np.inf if lower is None else lower
            upper = np.inf if upper is None else upper
            assert (weights >= lower).all()
            assert (weights <= upper).all()
            hit += ((weights == lower) | (weights == upper)).sum()
        assert hit > 0
        assert model.primal_objective_ > free.primal_objective_


def test_flat_bounds_have_the_documented_order(chains):
    X, y = chains
    upper = {
        name: np.full(shape, np.inf)
        for name, shape in [("coef", (3, 4)), ("transitions", (3, 3)), ("start", 3), ("end", 3)]
    }
    upper["coef"][1, 2] = upper["transitions"][2, 0] = upper["start"][1] = upper["end"][2] = -0.2
    vector = np.concatenate(
        [
            upper["coef"].ravel("F"),
            *(upper[name].ravel() for name in ("transitions", "start", "end")),
        ]
    )
    by_vector = fit(X, y, bounds=(None, vector))
    by_name = fit(X, y, bounds={name: (None, bound) for name, bound in upper.items()})
    np.testing.assert_array_equal(flat(by_vector), flat(by_name))
    assert by_vector.coef_[1, 2] <= -0.2
    assert by_vector.transitions_[2, 0] <= -0.2
    assert by_vector.start_[1] <= -0.2
    assert by_vector.end_[2] <= -0.2


def test_score_is_token_accuracy(noisy):
    X, y = noisy
    model = fit(X, y, tol=0.05)
    predicted = model.predict(X)
    right = np.concatenate([a == b for a, b in zip(predicted, y, strict=True)])
    assert 0.2 < right.mean() < 1
    assert model.score(X, y) == pytest.approx(right.mean(), rel=1e-12)
    assert model.score(X, y) == token_accuracy_score(y, predicted)
    weight = np.linspace(0, 1, len(X))
    by_token = np.repeat(weight, [len(labels) for labels in y])
    expected = np.average(right, weights=by_token)
    assert model.score(X, y, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_one_label_and_one_token():
    model = SequenceTagger().fit([np.ones((2, 3)), np.ones((1, 3))], [["a", "a"], ["a"]])
    assert model.dual_gap_ == 0
    assert model.predict([np.ones((1, 3))])[0].tolist() == ["a"]
    assert model.predict_topk([np.ones((2, 3))], 4)[0].tolist() == [["a", "a"]]
    assert model.decision_function([np.ones((2, 3))])[0].shape == (2, 1)


class StopWhenGood:
    """Stop the fit when all training tokens of the model are right."""

    def __init__(self):
        self.scores = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        if context.task_name == "pass":
            self.scores.append(fitted_estimator.score(X, y, metadata["sample_weight"]))
            return self.scores[-1] > 0.95


def test_callback_stops_the_fit(chains):
    pytest.importorskip("sklearn.callback")
    X, y = chains
    callback = StopWhenGood()
    # callbacks see the last iterate, not the average
    solver = BCFW(averaging=False)
    model = SequenceTagger(lam=LAM, tol=1e-9, solver=solver, random_state=0)
    model.set_callbacks(callback)
    model.fit(X, y, sample_weight=np.ones(len(X)))
    assert model.n_iter_ == len(callback.scores) < 1000
    assert callback.scores[-1] == model.score(X, y)
    assert all(score <= 0.95 for score in callback.scores[:-1])
    assert model.dual_gap_ > 1e-9


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
