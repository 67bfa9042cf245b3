"""Order, features of edges, hidden labels and hidden states together, against enumeration."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from sskit import SequenceTagger
from sskit.datasets import make_chains

K = 3
STATES = {0: 2}
X, Y = make_chains(12, n_features=3, n_states=K, noise=1.0, max_length=4, random_state=1)
RNG = np.random.default_rng(1)
PAIRS = [(x, RNG.normal(size=(len(x) - 1, 2)) + y[1:, None]) for x, y in zip(X, Y, strict=True)]
# every third label is not known, every third one of two
SOME = [
    [(int(k), -1, {int(k), (int(k) + 1) % K})[t % 3] for t, k in enumerate(y, start=i)]
    for i, y in enumerate(Y)
]
CASES = [
    (order, edges, states, hidden)
    for order, edges, states, hidden in itertools.product([1, 2], [0, 1], [0, 1], [0, 1])
    if states + hidden > 0 and edges + order < 3
]


def fitted(order, edges, states, hidden, **given):
    given = {"lam": 0.05, "tol": 0.01, "random_state": 0, "ignore_label": -1} | given
    model = SequenceTagger(order=order, n_states_per_label=STATES if states else 1, **given)
    return model.fit(PAIRS if edges else X, SOME if hidden else Y)


def scores(model, item):
    """The best score of each labelling, by enumeration of all paths of states."""
    x, z = item if isinstance(item, tuple) else (item, None)
    owner = model.state_labels_
    paths = np.array(list(itertools.product(range(len(owner)), repeat=len(x))))
    value = (x @ model.coef_.T)[np.arange(len(x)), paths].sum(axis=1)
    value += model.start_[paths[:, 0]] + model.end_[paths[:, -1]]
    a, b = paths[:, :-1], paths[:, 1:]
    value += model.transitions_[a, b].sum(axis=1)
    if z is not None:
        value += (np.moveaxis(model.edge_coef_[:, a, b], 0, -1) * z).sum(axis=(1, 2))
    if model.order == 2:
        value += model.triples_[paths[:, :-2], paths[:, 1:-1], paths[:, 2:]].sum(axis=1)
    best = {}
    for labels, each in zip(map(tuple, owner[paths].tolist()), value, strict=True):
        best[labels] = max(each, best.get(labels, -np.inf))
    return best


def agree(labels, known):
    """How many labels are wrong, of those of which something is known."""
    sets = [set(range(K)) if k == -1 else k if isinstance(k, set) else {k} for k in known]
    return sum(k not in each for k, each in zip(labels, sets, strict=True))


def objective(model, items, known):
    """P(w) by enumeration."""
    blocks = [model.coef_, model.transitions_, model.start_, model.end_]
    blocks += [getattr(model, name) for name in ("edge_coef_", "triples_") if hasattr(model, name)]
    total = model.lam_ / 2 * sum((block**2).sum() for block in blocks)
    for item, labels in zip(items, known, strict=True):
        table = scores(model, item)
        worst = max(value + agree(found, labels) for found, value in table.items())
        best = max(value for found, value in table.items() if not agree(found, labels))
        total += (worst - best) / len(items)
    return total


@pytest.mark.parametrize("case", CASES, ids=str)
def test_objective_is_that_of_enumeration(case):
    model, items = fitted(*case), PAIRS if case[1] else X
    known = SOME if case[3] else Y
    value = model.primal_objective_
    if case[2] or case[3]:
        assert (np.diff(model.round_objectives_) <= 0).all()
        value = model.round_objectives_[-1]
    assert value == pytest.approx(objective(model, items, known), rel=1e-9)
    assert model.certified_
    assert model.dual_gap_ <= 0.01 * 1.001 * (model.primal_objective_ + len(X))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_predictions_are_those_of_enumeration(case):
    model, items = fitted(*case, tol=0.1), PAIRS if case[1] else X
    known = [[None, *labels[1:]] for labels in Y]
    given = {"known": known, "return_scores": True}
    best, margins = model.predict(items), model.decision_function(items)
    ranks = not hasattr(model, "n_states_")
    if ranks:
        ranked, free = model.predict_topk(items, 5, **given), model.predict_topk(items, 200)
    for i, item in enumerate(items):
        table = scores(model, item)
        order = sorted(table, key=table.get, reverse=True)
        assert table[tuple(best[i].tolist())] == pytest.approx(table[order[0]])
        for t, k in itertools.product(range(len(best[i])), range(K)):
            here = max(value for labels, value in table.items() if labels[t] == k)
            assert margins[i][t, k] == pytest.approx(here)
        if not ranks:
            continue
        assert {tuple(labels) for labels in free[i].tolist()} == set(order[:200])
        values = [table[tuple(labels)] for labels in free[i].tolist()]
        np.testing.assert_allclose(values, [table[labels] for labels in order[:200]])
        kept = [labels for labels in order if list(labels[1:]) == known[i][1:]]
        assert [tuple(labels) for labels in ranked[0][i].tolist()] == kept
        np.testing.assert_allclose(ranked[1][i], [table[labels] for labels in kept])


@pytest.mark.parametrize("case", [(1, 1, 1, 1), (1, 1, 1, 0)], ids=str)
def test_sparse_features_rules_and_pickles(case):
    allowed = np.ones((K, K), dtype=bool)
    allowed[0, 1] = False
    given = {"allowed_transitions": allowed, "on_violation": "ignore"}
    dense = fitted(*case, **given)
    thin = [(sp.csr_array(x), sp.csr_array(z)) for x, z in PAIRS]
    model = SequenceTagger(**dense.get_params()).fit(thin, SOME if case[3] else Y)
    np.testing.assert_allclose(model.round_objectives_[-1], dense.round_objectives_[-1], rtol=0.02)
    copy = pickle.loads(pickle.dumps(dense))
    for item, labels, again in zip(PAIRS, dense.predict(PAIRS), copy.predict(PAIRS), strict=True):
        table = {
            labels: value
            for labels, value in scores(dense, item).items()
            if all(allowed[pair] for pair in itertools.pairwise(labels))
        }
        order = sorted(table, key=table.get, reverse=True)
        assert labels.tolist() == again.tolist() == list(order[0])
