"""SequenceTagger: structure, losses, constraints, decoding, scores."""

import itertools
import logging

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.metrics import token_accuracy_score, token_accuracy_scorer
from sskit.solvers import BCFW, FrankWolfe, Subgradient

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


def score_of(model, x, states):
    """Return the score of one labelling, from scratch."""
    score = model.start_[states[0]] + model.end_[states[-1]]
    score += sum(x[t] @ model.coef_[state] for t, state in enumerate(states))
    return score + sum(model.transitions_[pair] for pair in itertools.pairwise(states))


def labellings(model, x, allowed=lambda states: True):
    """Return all allowed labellings of a sequence with their scores, best first."""
    every = itertools.product(range(len(model.classes_)), repeat=len(x))
    scored = [(score_of(model, x, states), states) for states in every if allowed(states)]
    return sorted(scored, reverse=True)


def is_bio(states):
    """Return whether a labelling keeps to the BIO scheme."""
    names = ["O", *BIO[list(states)]]
    return all(b[0] != "I" or a[1:] == b[1:] for a, b in itertools.pairwise(names))


def flat(model):
    return np.concatenate(
        [model.coef_.ravel("F"), model.transitions_.ravel(), model.start_, model.end_]
    )


@pytest.mark.parametrize("loss", ["hamming", "hamming_sum"])
def test_primal_is_that_of_all_labellings(loss, chains):
    X, y = chains
    weight = np.linspace(0.2, 2, len(X))
    factors = {0: 1.0, 1: 0.5, 2: 3.0}
    model = fit(X, y, tol=0.02, loss=loss, class_weight=factors, sample_weight=weight)
    hinges = []
    for x, truth in zip(X, y, strict=True):
        cost = np.array([factors[k] for k in truth]) / (len(x) if loss == "hamming" else 1)
        hinges.append(
            max(
                cost[np.array(states) != truth].sum() + score
                for score, states in labellings(model, x)
            )
            - score_of(model, x, truth.tolist())
        )
    primal = LAM / 2 * (flat(model) ** 2).sum() + weight @ hinges / weight.sum()
    assert model.primal_objective_ == pytest.approx(primal, rel=1e-10)
    assert model.dual_gap_ == pytest.approx(primal - model.dual_objective_, abs=1e-10)
    assert model.certified_
    assert (model.coef_.shape, model.transitions_.shape) == ((3, 4), (3, 3))
    assert (model.start_.shape, model.end_.shape) == ((3,), (3,))


def test_predict_is_the_best_labelling(chains):
    X, y = chains
    model = fit(X, y)
    predicted = model.predict(X)
    for x, labels in zip(X, predicted, strict=True):
        best, second = labellings(model, x)[:2]
        assert best[0] > second[0] + 1e-9
        assert labels.tolist() == list(best[1])


@pytest.mark.parametrize("k", [1, 4, 300])
def test_topk_are_the_best_labellings(k, chains):
    X, y = chains
    model = fit(X, named(y))
    X = X[:8]
    found, scores = model.predict_topk(X, k, return_scores=True)
    assert found.dtype == scores.dtype == object
    assert found.shape == scores.shape == (len(X),)
    for x, labels, values, best in zip(X, found, scores, model.predict(X), strict=True):
        expected = labellings(model, x)[:k]
        assert labels.shape == (len(expected), len(x))
        assert labels[0].tolist() == best.tolist()
        np.testing.assert_allclose(values, [score for score, _ in expected], atol=1e-9)
        assert labels.tolist() == [model.classes_[list(states)].tolist() for _, states in expected]
    for labels, again in zip(found, model.predict_topk(X, k), strict=True):
        np.testing.assert_array_equal(labels, again)


def named(y):
    """Return labels as strings."""
    return [np.array(["u", "v", "w"])[states] for states in y]


def test_decision_function_is_the_max_marginals(chains):
    X, y = chains
    model = fit(X, y)
    for x, table in zip(X, model.decision_function(X), strict=True):
        every = labellings(model, x)
        expected = np.full((len(x), 3), -np.inf)
        for score, states in every:
            for t, state in enumerate(states):
                expected[t, state] = max(expected[t, state], score)
        np.testing.assert_allclose(table, expected, atol=1e-9)
        np.testing.assert_allclose(table.max(axis=1), every[0][0], atol=1e-9)
        np.testing.assert_array_equal(table.argmax(axis=1), model.predict([x])[0])


def test_bio_predictions_keep_to_the_scheme(noisy):
    X, y = noisy
    free, model = (
        fit(X, y, tol=0.1, loss="hamming_sum", allowed_transitions=allowed)
        for allowed in (None, "bio")
    )
    nonsense = list(np.random.default_rng(0).normal(scale=5.0, size=(100, 7, 5)))
    assert not all(is_bio(np.searchsorted(BIO, labels)) for labels in free.predict(nonsense))
    for known in (X, nonsense):
        assert all(is_bio(np.searchsorted(BIO, labels)) for labels in model.predict(known))
    short = [x[:3] for x in X[:10]]
    best = model.predict_topk(short, 6)
    tables = model.decision_function(short)
    for x, labels, table in zip(short, best, tables, strict=True):
        allowed = labellings(model, x, is_bio)
        assert labels.tolist() == [BIO[list(states)].tolist() for _, states in allowed[:6]]
        np.testing.assert_allclose(table.max(axis=1), allowed[0][0], atol=1e-9)
        np.testing.assert_array_equal(np.isneginf(table[0]), [False, False, True, True, False])
    assert (model.transitions_[4, 2:4] == 0).all(), "a forbidden transition has no weight"


@pytest.mark.parametrize("as_list", [False, True])
def test_mask(as_list, chains):
    X, y = chains
    seen = np.zeros((3, 3), dtype=bool)
    for states in y:
        seen[states[:-1], states[1:]] = True
    seen[2, 1] = False
    kept = [i for i, states in enumerate(y) if seen[states[:-1], states[1:]].all()]
    X_kept, y_kept = [X[i] for i in kept], [y[i] for i in kept]
    model = fit(X_kept, y_kept, tol=0.02, allowed_transitions=seen.tolist() if as_list else seen)
    rng = np.random.default_rng(0)
    new = [3 * rng.normal(size=(9, 4)) for _ in range(50)]
    assert all(seen[labels[:-1], labels[1:]].all() for labels in model.predict(new))
    free = fit(X_kept, y_kept, tol=0.02).predict(new)
    assert not all(seen[labels[:-1], labels[1:]].all() for labels in free)
    everything = fit(X_kept, y_kept, tol=0.02, allowed_transitions=np.ones((3, 3), dtype=bool))
    np.testing.assert_array_equal(everything.coef_, fit(X_kept, y_kept, tol=0.02).coef_)


def test_mask_that_allows_no_long_sequence():
    mask = np.array([[False, True], [False, False]])
    X = [np.eye(2), np.eye(2)[:1], np.eye(2)[1:]]
    y = [[0, 1], [0], [1]]
    model = fit(X, y, tol=0.05, allowed_transitions=mask)
    assert [labels.tolist() for labels in model.predict(X)] == y
    for method in (model.predict, model.decision_function, lambda X: model.predict_topk(X, 2)):
        with pytest.raises(ValueError, match="no labelling of a sequence of length 3"):
            method([np.ones((3, 2))])


def test_hamming_sum_is_the_length_times_hamming():
    X, y = make_chains(20, n_features=4, min_length=5, max_length=5, random_state=1)
    mean = fit(X, y, lam=0.5, loss="hamming", tol=1e-3, steps="fw")
    total = fit(X, y, lam=0.1, loss="hamming_sum", tol=1e-3, steps="fw")
    # A loss and weights five times as large make five times the hinge; so does a fifth of lam
    # make five times the regulariser. All steps are the same but for the factor.
    np.testing.assert_allclose(flat(total), 5 * flat(mean), rtol=1e-8, atol=1e-10)
    assert total.primal_objective_ == pytest.approx(5 * mean.primal_objective_, rel=1e-8)
    assert total.dual_objective_ == pytest.approx(5 * mean.dual_objective_, rel=1e-8)


@pytest.mark.parametrize(
    "solver",
    [BCFW(averaging=True), BCFW(sampling="uniform"), FrankWolfe(), Subgradient()],
    ids=lambda solver: repr(solver),
)
def test_solvers_agree(solver, chains):
    X, y = chains
    optimum = fit(X, y, lam=0.5)
    model = fit(X, y, lam=0.5, solver=solver, tol=0.05)
    assert model.dual_gap_ <= 0.05
    assert optimum.dual_objective_ <= model.primal_objective_
    assert model.dual_objective_ <= optimum.primal_objective_


def test_sparse(chains):
    X, y = chains
    X = [np.where(np.abs(x) > 0.5, x, 0) for x in X]
    rows = [sp.csr_array(x) for x in X]
    # steps between stored planes stop by comparisons that the last bit may decide
    dense, sparse = (fit(data, y, steps="fw", tol=0.05) for data in (X, rows))
    np.testing.assert_allclose(flat(sparse), flat(dense), atol=1e-8)
    for a, b in zip(dense.predict(rows), sparse.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(dense.decision_function(X), dense.decision_function(rows), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_class_weight(chains):
    X, y = chains
    plain = fit(X, y, loss="hamming_sum")
    ones = fit(X, y, loss="hamming_sum", class_weight={0: 1, 1: 1.0, 2: 1})
    np.testing.assert_array_equal(flat(ones), flat(plain))
    tokens = np.concatenate(y)
    share = len(tokens) / (3 * np.bincount(tokens))
    balanced = fit(X, y, loss="hamming_sum", class_weight="balanced")
    by_hand = fit(X, y, loss="hamming_sum", class_weight=dict(enumerate(share)))
    np.testing.assert_array_equal(flat(balanced), flat(by_hand))
    assert not np.array_equal(flat(balanced), flat(plain))
    doubled = fit(X, y, loss="hamming_sum", lam=LAM / 2, class_weight=dict.fromkeys(range(3), 2.0))
    np.testing.assert_allclose(flat(doubled), 2 * flat(plain), atol=1e-8)


def test_sample_weights_are_copies(chains):
    X, y = chains
    weight = np.arange(len(X)) % 3
    copies = [i for i in range(len(X)) for _ in range(weight[i])]
    weighted = fit(X, y, sample_weight=weight)
    copied = fit([X[i] for i in copies], [y[i] for i in copies])
    assert weighted.primal_objective_ == pytest.approx(copied.primal_objective_, abs=1e-3)
    # Each is within its gap of the optimum of one strongly convex function.
    assert ((flat(weighted) - flat(copied)) ** 2).sum() <= 2 / LAM * 4 * 1e-3


@pytest.mark.parametrize(
    "bounds",
    [
        (0, None),
        (-0.05, 0.1),
        {"coef": (0, None)},
        {"transitions": (np.full((3, 3), -0.1), 0.05), "end": (None, 0)},
    ],
    ids=["nonnegative", "box", "coef", "transitions"],
)
def test_bounds(bounds, chains):
    X, y = chains
    model = fit(X, y, bounds=bounds)
    boxes = (
        bounds
        if isinstance(bounds, dict)
        else dict.fromkeys(("coef", "transitions", "start", "end"), bounds)
    )
    hit = 0
    for block, (lower, upper) in boxes.items():
        weights = getattr(model, f"{block}_")
        lower = -np.inf if lower is None else lower
        upper = np.inf if upper is None else upper
        assert (weights >= lower).all()
        assert (weights <= upper).all()
        hit += ((weights == lower) | (weights == upper)).sum()
    assert hit > 0
    assert model.primal_objective_ > fit(X, y).primal_objective_


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


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_jobs(n_jobs, noisy):
    X, y = noisy
    one = fit(X, y, tol=0.3, allowed_transitions="bio", n_jobs=n_jobs)
    many = clone(one).fit(X, y)
    np.testing.assert_array_equal(flat(many), flat(one))
    one.set_params(n_jobs=None)
    many.set_params(n_jobs=50)  # more than there are sequences
    for method in ("predict", "decision_function"):
        for a, b in zip(getattr(one, method)(X), getattr(many, method)(X), strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(one.predict_topk(X, 3), many.predict_topk(X, 3), strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_label_and_one_token():
    model = SequenceTagger().fit([np.ones((2, 3)), np.ones((1, 3))], [["a", "a"], ["a"]])
    assert model.dual_gap_ == 0
    assert model.predict([np.ones((1, 3))])[0].tolist() == ["a"]
    assert model.predict_topk([np.ones((2, 3))], 4)[0].tolist() == [["a", "a"]]
    assert model.decision_function([np.ones((2, 3))])[0].shape == (2, 1)


def test_structure_helps():
    X, y = make_chains(80, n_features=3, n_states=4, noise=1.5, min_length=6, random_state=2)
    tagger = fit(X[:60], y[:60], tol=0.02, lam=0.02)
    tokens = [x[None] for sequence in X[:60] for x in sequence]
    alone = fit(tokens, [[k] for states in y[:60] for k in states], tol=0.02, lam=0.02)
    accuracy = np.mean(
        [
            alone.predict([x[None]])[0][0] == k
            for sequence, states in zip(X[60:], y[60:], strict=True)
            for x, k in zip(sequence, states, strict=True)
        ]
    )
    assert tagger.score(X[60:], y[60:]) > accuracy + 0.1


def test_history_and_solver(chains):
    X, y = chains
    model = fit(X, y, solver="auto")
    history = model.history_
    assert set(history) == {"n_passes", "n_oracle_calls", "time", "primal", "dual", "gap"}
    assert len({len(column) for column in history.values()}) == 1
    assert history["gap"][-1] == model.dual_gap_ <= 1e-3
    assert (np.diff(history["dual"]) >= -1e-12).all()
    assert (np.diff(history["time"]) >= 0).all()
    assert isinstance(model.solver_, BCFW)
    assert model.solver_.sampling == "permutation"


def test_convergence_warning(chains):
    X, y = chains
    message = r"stopped after 2 passes with a relative duality gap of \d\.\d+, above tol=1e-09"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = fit(X, y, tol=1e-9, max_iter=2)
    assert caught[0].filename == __file__
    share = model.dual_gap_ / (model.primal_objective_ + 1e-3)
    assert f"{share:.3g}" in str(caught[0].message)
    assert model.predict(X).shape == (len(X),)


def test_verbose_logs_where_that_is_shown(chains, caplog, capfd):
    X, y = chains
    with caplog.at_level(logging.INFO, logger="sskit"):
        fit(X, y, tol=0.1)
        assert not caplog.records
        model = fit(X, y, tol=0.1, verbose=1)
    assert len(caplog.records) == len(model.history_["gap"])
    assert capfd.readouterr() == ("", "")


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


def test_scoring_monitor(chains):
    callback = pytest.importorskip("sklearn.callback")
    X, y = chains
    monitor = callback.ScoringMonitor(scoring={"score": token_accuracy_scorer})
    solver = BCFW(averaging=False)  # callbacks see the last iterate, not the average
    model = SequenceTagger(lam=LAM, tol=0.2, solver=solver, random_state=0)
    model.set_callbacks(monitor).fit(X, y)
    passes = [row["score"] for row in monitor.get_logs().data if row["task_name"] == "pass"]
    assert len(passes) == model.n_iter_
    assert passes[-1] == model.score(X, y)


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


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_scores_that_overflow(form):
    X, y = make_chains(12, n_features=4, n_states=3, random_state=0)
    model = SequenceTagger(tol=0.1, random_state=0).fit(X, y)
    large = [form(x * 1e307 if i == 2 else x) for i, x in enumerate(X)]
    for method in ("predict", "decision_function"):
        with pytest.raises(ValueError, match="^the features in X are too large: the scores of"):
            getattr(model, method)(large)
