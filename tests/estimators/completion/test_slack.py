"""Slack rescaling where labels are completed: P(w) by enumeration never rises from round to round.

Its hinge is max_y L(y) (1 + F(y) - max F(y')), y' the labellings that agree with what is known.
"""

import numpy as np
import pytest
from helpers.hidden import Styles, make_styles
from helpers.labellings import BLOCKS, losses_of, score_labellings
from helpers.pairwise import every_pair
from helpers.trees import random_parents
from sklearn.base import clone

from sskit import (
    GraphTagger,
    SequenceTagger,
    SlackRescaling,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.datasets import make_chains

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, Y = make_chains(12, n_features=3, n_states=3, noise=1.5, max_length=4, random_state=0)
RNG = np.random.default_rng(0)
TREES = [(x, random_parents(RNG, len(x))) for x in X]
EDGED = [(x, np.diff(x, axis=0)) for x in X]
RINGS = [
    (x, np.stack([np.arange(len(x)), np.roll(np.arange(len(x)), 1)], axis=1)[len(x) < 3 :])
    for x in X
]
RINGS = [(x, edges, np.ones((len(edges), 1))) for x, edges in RINGS]
UNKNOWN = [[-1 if (i + t) % 3 == 0 else k for t, k in enumerate(y)] for i, y in enumerate(Y)]
SETS = [[{k, (k + 1) % 3} if (i + t) % 3 == 0 else k for t, k in enumerate(y)]
        for i, y in enumerate(Y)]  # fmt: skip
COSTS = np.array([[0.0, 3.0, 0.5], [1.0, 0.0, 1.0], [2.0, 0.2, 0.0]])
GIVEN = {"lam": 0.05, "tol": 0.01, "random_state": 0, "ignore_label": -1}
STATES = {"n_states_per_label": {0: 2}}
CASES = {
    "chains": (SequenceTagger(**GIVEN), X, UNKNOWN),
    "sets": (SequenceTagger(**GIVEN), X, SETS),
    "edges": (SequenceTagger(**GIVEN), EDGED, UNKNOWN),
    "order 2": (SequenceTagger(order=2, **GIVEN), X, UNKNOWN),
    "states": (SequenceTagger(**STATES, **GIVEN), X, Y),
    "states, unknown": (SequenceTagger(**STATES, **GIVEN), X, UNKNOWN),
    "costs": (SequenceTagger(loss=COSTS, **GIVEN), X, UNKNOWN),
    "trees": (TreeTagger(**GIVEN), TREES, UNKNOWN),
    "trees, sets": (TreeTagger(**GIVEN), TREES, SETS),
    "trees, states": (TreeTagger(**STATES, **GIVEN), TREES, Y),
    "graphs, states": (GraphTagger(inference="elimination", **STATES, **GIVEN), RINGS, Y),
}
WAYS = {
    "auto": {},
    "away": {"steps": "away"},
    "multi-plane": {"solver": "multi_plane"},
    "frank_wolfe": {"solver": "frank_wolfe", "max_iter": 200},
    "cutting planes": {"solver": "cutting_plane"},
    "bounds": {"bounds": (-0.5, 0.6)},
    "two starts": {"n_init": 2},
}


def primal(model, items, y, weight, table):
    """P(w) of fitted weights."""
    hinges = []
    for item, known in zip(items, y, strict=True):
        loss, right = losses_of(known, model.classes_.tolist(), table, hidden=-1)
        labels, values = score_labellings(model, item)
        nodes = np.arange(len(loss))
        true = right[nodes, labels].all(axis=1)
        total = loss[nodes, labels].sum(axis=1)
        hinges.append(max(np.max(total * (1.0 + values - values[true].max())), 0.0))
    squares = sum((getattr(model, name) ** 2).sum() for name in BLOCKS if hasattr(model, name))
    return 0.5 * model.lam_ * squares + np.average(hinges, weights=weight)


@every_pair(case=CASES, way=WAYS, weight=[None, np.arange(1.0, 13.0)], n_jobs=[None, 2])
def test_rounds_of_any_solver_fall(case, way, weight, n_jobs):
    model, items, y = CASES[case]
    model = clone(model).set_params(rescaling="slack", n_jobs=n_jobs, **WAYS[way])
    model.fit(items, y, sample_weight=weight)
    rounds = model.round_objectives_
    assert (np.diff(rounds) <= 0).all() and model.n_rounds_ == len(rounds)
    expected = primal(model, items, y, weight, COSTS if case == "costs" else None)
    # of other losses than counts the search may miss the maximum, and bounds it
    assert expected <= rounds[-1] + 1e-9
    if case in ("chains", "edges"):
        assert model.certified_ and rounds[-1] == pytest.approx(expected, rel=1e-9)


def test_searches_agree_and_warm_starts_go_on():
    exact = clone(CASES["chains"][0]).set_params(rescaling="slack", tol=1e-4)
    exact.fit(X, UNKNOWN)
    angular = clone(exact).set_params(rescaling=SlackRescaling("angular")).fit(X, UNKNOWN)
    np.testing.assert_allclose(angular.round_objectives_, exact.round_objectives_, rtol=1e-3)
    warm = clone(exact).set_params(warm_start=True, tol=0.1).fit(X, UNKNOWN)
    n_first = warm.n_iter_
    warm.set_params(tol=0.05).fit(X, UNKNOWN)
    assert warm.n_iter_ <= n_first
    assert warm.round_objectives_[-1] <= 1.1 * exact.round_objectives_[-1]
    known = clone(exact).fit(X, Y)
    assert known.primal_objective_ != exact.primal_objective_ and not hasattr(known, "n_rounds_")
    stepped = clone(exact).set_params(tol=0.01)
    for part in (slice(0, 6), slice(6, 12)):
        stepped.partial_fit(X[part], UNKNOWN[part], classes=[0, 1, 2])
        assert (np.diff(stepped.round_objectives_) <= 0).all()


@pytest.mark.parametrize("rescaling", ["slack", SlackRescaling("bisecting")])
def test_components_of_classes(rescaling):
    rows, y = make_styles()
    rows, y = np.array(rows), np.array(y)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    model = StructSVMClassifier(
        0.05, n_components=2, rescaling=rescaling, standardize=False, random_state=0, tol=0.01
    ).fit(rows, y, sample_weight=weight)
    assert (np.diff(model.round_objectives_) <= 0).all()
    scores = (rows @ model.coef_.T + model.intercept_).reshape(len(y), 3, 2).max(axis=2)
    hinges = 1.0 + scores - scores[np.arange(len(y)), y][:, None]
    hinges[np.arange(len(y)), y] = 0.0
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    expected = 0.025 * squares + np.average(hinges.max(axis=1), weights=weight)
    assert expected <= model.round_objectives_[-1] + 1e-9
    if rescaling == "slack":
        assert model.round_objectives_[-1] == pytest.approx(expected)


def test_hidden_parts_of_a_structure_in_python():
    rows, y = make_styles(20)
    structure = Styles()
    model = StructuredSVM(structure, lam=0.05, rescaling="slack", random_state=0).fit(rows, y)
    assert (np.diff(model.round_objectives_) <= 0).all()
    hinges = []
    for x, k in zip(rows, y, strict=True):
        best = structure.scores(x, model.coef_).max(axis=1)
        hinges.append(max(0.0, *(1.0 + best[j] - best[k] for j in range(3) if j != k)))
    expected = 0.025 * (model.coef_**2).sum() + np.mean(hinges)
    assert expected <= model.round_objectives_[-1] + 1e-9
