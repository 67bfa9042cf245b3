"""SequenceTagger(order=2): three labels in a row have a weight."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from sskit import (
    EarlyStopping,
    RegularizationPath,
    SequenceTagger,
    SlackRescaling,
)
from sskit.datasets import make_chains
from sskit.oracles import chain_max_marginals, viterbi_top_k
from sskit.solvers import BCFW

EXACT = {"lam": 0.3, "tol": 1e-3, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_chains(30, n_features=4, n_states=3, min_length=1, max_length=6, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return SequenceTagger(order=2, **EXACT).fit(*data)


def two_back(n=60, length=12, seed=0):
    """Labels that the label before the last one tells, and features that hardly do."""
    rng = np.random.default_rng(seed)
    y = [np.zeros(length, dtype=int) for _ in range(n)]
    for labels in y:
        labels[:2] = rng.integers(3, size=2)
        for t in range(2, length):
            labels[t] = (labels[t - 2] + 1) % 3 if rng.random() < 0.95 else rng.integers(3)
    return [0.7 * np.eye(3)[labels] + rng.normal(size=(length, 3)) for labels in y], y


def objective(model, X, y, lam):
    """P(w) by the enumeration of all labellings."""
    blocks = model.coef_, model.transitions_, model.start_, model.end_, model.triples_
    value = 0.5 * lam * sum(np.sum(block**2) for block in blocks)

    def score(x, labels):
        total = model.start_[labels[0]] + model.end_[labels[-1]]
        total += sum(model.coef_[k] @ row for k, row in zip(labels, x, strict=True))
        total += sum(model.transitions_[a, b] for a, b in itertools.pairwise(labels))
        return total + sum(
            model.triples_[tuple(labels[t - 2 : t + 1])] for t in range(2, len(labels))
        )

    for x, truth in zip(X, y, strict=True):
        right = score(x, truth)
        value += max(
            sum(a != b for a, b in zip(labels, truth, strict=True)) + score(x, labels) - right
            for labels in itertools.product(range(len(model.classes_)), repeat=len(x))
        ) / len(X)
    return value


def test_the_objective_is_that_of_enumeration(data):
    X, y = data
    model = SequenceTagger(order=2, **EXACT).fit(X[:10], y[:10])
    assert model.certified_
    assert model.primal_objective_ == pytest.approx(objective(model, X[:10], y[:10], 0.3))
    assert model.primal_objective_ - model.dual_objective_ <= 2e-3 * model.primal_objective_


def test_without_triples_it_is_the_first_order(data):
    first = SequenceTagger(**EXACT).fit(*data)
    second = SequenceTagger(order=2, bounds={"triples": (0.0, 0.0)}, **EXACT).fit(*data)
    assert not second.triples_.any()
    low = max(first.dual_objective_, second.dual_objective_)
    assert low <= min(first.primal_objective_, second.primal_objective_) + 1e-12
    assert second.primal_objective_ == pytest.approx(first.primal_objective_, rel=2e-3)
    free = SequenceTagger(order=2, **EXACT).fit(*data)
    assert free.primal_objective_ < second.dual_objective_


def test_it_learns_what_two_labels_before_tell():
    (X, y), test = two_back(), two_back(seed=1)
    one, two = (SequenceTagger(order=k, random_state=0).fit(X, y).score(*test) for k in (1, 2))
    assert two > one + 0.1


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "frank_wolfe"},
        {"solver": "multi_plane"},
        {"solver": "cutting_plane"},
        {"steps": "pairwise", "cache": True},
        {"n_jobs": 2, "solver": BCFW(batch_size=4)},
    ],
)
def test_solvers_find_the_same(data, fitted, options):
    model = SequenceTagger(order=2, **{**EXACT, "tol": 2e-2, **options}).fit(*data)
    assert model.certified_
    assert model.dual_objective_ <= fitted.primal_objective_ + 1e-12
    assert fitted.dual_objective_ <= model.primal_objective_ + 1e-12


def test_the_subgradient_method_comes_near(data, fitted):
    model = SequenceTagger(
        order=2, solver="subgradient", **{**EXACT, "tol": 0.2}
    ).fit(*data)  # fmt: skip
    assert fitted.dual_objective_ <= model.primal_objective_ <= 1.5 * fitted.primal_objective_


def test_sparse_features_and_weights_of_samples(data, fitted):
    X, y = data
    same = SequenceTagger(order=2, **EXACT).fit([sp.csr_array(x) for x in X], y)
    assert same.primal_objective_ == pytest.approx(fitted.primal_objective_, rel=2e-3)
    twice = SequenceTagger(order=2, **EXACT).fit([*X, *X[:5]], [*y, *y[:5]])
    weight = np.where(np.arange(30) < 5, 2.0, 1.0)
    weighted = SequenceTagger(order=2, **EXACT).fit(X, y, sample_weight=weight)
    assert weighted.primal_objective_ == pytest.approx(twice.primal_objective_, rel=2e-3)


def test_predictions_are_those_of_the_oracles(data, fitted):
    X, _ = data
    labels, scores = fitted.predict_topk(X, 3, return_scores=True)
    marginals, best = fitted.decision_function(X), fitted.predict(X)
    for i, x in enumerate(X):
        nodes = x @ fitted.coef_.T
        nodes[0] += fitted.start_
        nodes[-1] += fitted.end_
        tables = nodes, fitted.transitions_, fitted.triples_
        expected, most = viterbi_top_k(*tables[:2], 3, triples=tables[2])
        np.testing.assert_array_equal(labels[i], fitted.classes_[expected])
        np.testing.assert_array_equal(best[i], labels[i][0])
        np.testing.assert_allclose(scores[i], most)
        np.testing.assert_allclose(marginals[i], chain_max_marginals(*tables))


def test_known_labels_are_kept(data, fitted):
    X, y = data
    known = [[labels[0], *[None] * (len(labels) - 1)] for labels in y]
    for labels, truth in zip(fitted.predict(X, known=known), y, strict=True):
        assert labels[0] == truth[0]
    topk = fitted.predict_topk(X, 2, known=known)
    assert all((rows[:, 0] == truth[0]).all() for rows, truth in zip(topk, y, strict=True))


def test_empty_sequences(fitted, data):
    X, _ = data
    found = fitted.predict([X[0], np.empty((0, 4)), X[1]])
    assert [len(labels) for labels in found] == [len(X[0]), 0, len(X[1])]


def spans():
    """Sequences with BIO tags."""
    rng = np.random.default_rng(0)
    y = [rng.choice(["O B I O", "B I I", "B B I O O", "O", "O B"]).split() for _ in range(20)]
    return [rng.normal(size=(len(labels), 3)) for labels in y], [
        [label if label == "O" else f"{label}-x" for label in labels] for labels in y
    ]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_schemes_of_tags_are_kept(n_jobs):
    X, y = spans()
    model = SequenceTagger(
        order=2, allowed_transitions="bio", n_jobs=n_jobs, random_state=0
    ).fit(X, y)  # fmt: skip
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(int(n), 3)) for n in rng.integers(1, 9, size=40)]
    for labels in model.predict(X):
        assert labels[0] != "I-x"
        assert ("O", "I-x") not in list(itertools.pairwise(labels))
    worst = np.array([("O", "I-x") in itertools.pairwise(p) for p in itertools.product(
        model.classes_, repeat=3)])  # fmt: skip
    assert not model.triples_.ravel()[worst].any()
    with pytest.raises(ValueError, match=r"^y\[0\]\[0\] is"):
        model.fit(X[:1], [["I-x"] * len(X[0])])


def test_a_transition_may_be_forbidden_after_the_fit(data, fitted):
    model = pickle.loads(pickle.dumps(fitted))
    allowed = ~np.eye(3, dtype=bool)
    model.set_params(allowed_transitions=allowed)
    assert all((np.diff(labels) != 0).all() for labels in model.predict(data[0]))


def test_slack_rescaling_is_a_search(data):
    X, y = data
    for rescaling in ("slack", SlackRescaling("bisecting")):
        model = SequenceTagger(order=2, rescaling=rescaling, lam=0.1, random_state=0).fit(X, y)
        assert model.certified_
        assert model.dual_objective_ <= model.primal_objective_
    with pytest.raises(ValueError, match="exact oracle for slack rescaling"):
        SequenceTagger(order=2, rescaling=SlackRescaling("exact")).fit(X, y)


def test_bounds_and_prior_by_block(data, fitted):
    model = SequenceTagger(order=2, bounds={"triples": (-0.01, 0.02)}, **EXACT).fit(*data)
    assert model.triples_.min() >= -0.01
    assert model.triples_.max() <= 0.02
    assert model.primal_objective_ > fitted.dual_objective_
    prior = {"triples_": np.arange(27.0).reshape(3, 3, 3)}
    strong = SequenceTagger(order=2, prior=prior, **{**EXACT, "lam": 1e4}).fit(*data)
    np.testing.assert_allclose(strong.triples_, prior["triples_"], atol=1e-2)
    near = SequenceTagger(order=2, prior=fitted, **EXACT).fit(*data)
    assert near.primal_objective_ < fitted.primal_objective_
    with pytest.raises(ValueError, match="triples"):
        SequenceTagger(order=2, prior={"triples_": np.ones((3, 3))}).fit(*data)


def test_a_fit_goes_on(data, fitted):
    X, y = data
    model = SequenceTagger(order=2, warm_start=True, lam=0.3, tol=0.1, random_state=0)
    first = model.fit(X, y).n_iter_
    model.set_params(tol=1e-3).fit(X, y)
    assert first <= model.n_iter_
    assert model.primal_objective_ == pytest.approx(fitted.primal_objective_, rel=2e-3)
    with pytest.raises(ValueError, match="warm_start=True cannot continue the last fit"):
        model.set_params(order=1).fit(X, y)


def test_steps_over_parts(data):
    X, y = data
    model = SequenceTagger(order=2, random_state=0)
    for part in range(3):
        rows = slice(part * 10, part * 10 + 10)
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert model.triples_.any()
    assert model.score(X, y) > 0.6


def test_unknown_labels_are_completed(data):
    X, y = data
    rng = np.random.default_rng(0)
    hidden = [np.where(rng.random(len(labels)) < 0.3, -1, labels) for labels in y]
    model = SequenceTagger(order=2, ignore_label=-1, random_state=0).fit(X, hidden)
    assert model.stationary_
    assert model.score(X, y) > 0.7
    sets = [[{0, 1} if k == 0 else k for k in labels] for labels in y]
    assert SequenceTagger(order=2, random_state=0).fit(X, sets).triples_.any()


def test_tools_around_it(data):
    X, y = data
    path = RegularizationPath(SequenceTagger(order=2, random_state=0), eps=0.3).fit(X, y)
    assert path.estimator_at(path.lams_[-1]).triples_.shape == (3, 3, 3)
    stopping = EarlyStopping(SequenceTagger(order=2, random_state=0), random_state=0).fit(X, y)
    assert stopping.estimator_.triples_.shape == (3, 3, 3)
    search = GridSearchCV(
        SequenceTagger(random_state=0), {"order": [1, 2]}, cv=2
    ).fit(list(X), list(y))  # fmt: skip
    assert search.best_params_["order"] in (1, 2)


def test_weights_by_label(data, fitted):
    frame = fitted.weights_frame(top=None)
    kinds = np.asarray(frame["kind"])
    assert (kinds == "triple").sum() == np.count_nonzero(fitted.triples_)
    row = np.flatnonzero(kinds == "triple")[0]
    place = frame["label"][row], int(frame["feature"][row]), frame["to_label"][row]
    assert frame["weight"][row] == fitted.triples_[place]


REFUSED = [
    ({"kernel": "rbf"}, "kernel='rbf' cannot be combined with order=2"),
    ({"beam_size": 2}, "order=2 cannot be combined with beam_size=2"),
    ({"solver": "gdmm"}, "order=2 cannot be combined with solver='gdmm'"),
    ({"solver": "soft_bcfw"}, "order=2 cannot be combined with solver='soft_bcfw'"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_does_not_go_with_it(data, options, message):
    with pytest.raises(ValueError, match=message):
        SequenceTagger(order=2, **options).fit(*data)


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}])
def test_features_of_edges(data, options):
    """Those that are zero change nothing; others count, and predictions are the best labellings."""
    X, y = data
    nothing = [(x, np.zeros((len(x) - 1, 1))) for x in X]
    tagger = SequenceTagger(order=2, random_state=0, tol=1e-3, **options)
    plain, same = clone(tagger).fit(X, y), clone(tagger).fit(nothing, y)
    assert plain.certified_ and same.certified_
    gap = plain.dual_gap_ + same.dual_gap_
    assert abs(plain.primal_objective_ - same.primal_objective_) <= gap + 1e-9
    pairs = [(x, x[1:] * x[:-1]) for x in X]
    edged = clone(tagger).fit(pairs, y)
    assert edged.certified_ and edged.edge_coef_.any() and edged.triples_.any()
    best, scores = edged.predict_topk(pairs[:5], 2, return_scores=True)
    for labels, found, found_scores in zip(edged.predict(pairs[:5]), best, scores, strict=True):
        assert list(labels) == list(found[0])
        assert found_scores[0] >= found_scores[-1]


@pytest.mark.parametrize("order", [0, 3, "2", None, 1.5])
def test_other_orders_are_refused(data, order):
    with pytest.raises(ValueError, match="'order' parameter"):
        SequenceTagger(order=order).fit(*data)


def test_what_a_fitted_one_refuses(data, fitted):
    X, y = data
    model = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match="order=2 cannot be combined with beam_size=2"):
        model.set_params(beam_size=2).predict(X)
    with pytest.raises(NotFittedError):
        SequenceTagger(order=2).predict(X)


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        (None, "triples_ must be an array of numbers"),
        (np.zeros((3, 3)), r"triples_ must have the shape \(3, 3, 3\)"),
        (np.full((3, 3, 3), np.nan), r"triples_\[0, 0, 0\] is nan"),
        (np.full((3, 3, 3), np.inf), r"triples_\[0, 0, 0\] is inf"),
    ],
)
def test_damaged_weights(data, fitted, triples, message):
    model = pickle.loads(pickle.dumps(fitted))
    model.triples_ = triples
    with pytest.raises(ValueError, match=message):
        model.predict(data[0])


def test_scores_that_overflow(fitted):
    with pytest.raises(ValueError, match="the features in X are too large"):
        fitted.predict([np.zeros((1, 4)), np.full((3, 4), 1e305)])


def test_a_fit_of_the_first_order_forgets_the_second(data, fitted):
    model = pickle.loads(pickle.dumps(fitted)).set_params(order=1).fit(*data)
    assert not hasattr(model, "triples_")
    assert model.predict(data[0])[0].shape == data[1][0].shape
