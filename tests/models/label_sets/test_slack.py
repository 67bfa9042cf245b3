"""Slack rescaling of sets of labels."""

import numpy as np
import pytest
from helpers.label_sets import all_sets, random_forest, random_model, set_scores
from helpers.models import FULL, NONE

from sskit.core.problem import block_weights
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.models.slack.model import SlackRescaling
from sskit.testing.probe import ProblemProbe

MANY = np.stack(np.triu_indices(15, 1), axis=1).astype(np.int32)
HIERARCHY = [-1, 0, 0, 1]
COUNTS, COSTS = np.array([1.0, 0.5, 0.0, 2.0]), np.array([1.0, 0.7, 1.3, 2.1])


def test_without_an_oracle_it_bisects():
    many = np.random.default_rng(0).uniform(1, 2, size=15)
    for model, cost in [
        (HierarchyModel(3, 4, [[1, 0], [2, 0], [3, 1], [3, 2]], True), COUNTS),
        (HierarchyModel(3, 4, HIERARCHY, True), COSTS),
        (PairwiseModel(3, 15, MANY, True, "graphcut"), np.ones(15)),
        (PairwiseModel(3, 4, FULL, True, "lp"), COUNTS),
        (PairwiseModel(3, 15, NONE, True), many),
    ]:
        truths = np.zeros((2, model.n_labels), dtype=np.uint8)
        problem = model.bind(np.ones((2, 3)), truths, cost, block_weights(2))
        assert SlackRescaling().wrap(problem).settings[0] == "bisecting"
        with pytest.raises(ValueError, match="search='exact' needs an exact oracle"):
            SlackRescaling("exact").wrap(problem)
        with pytest.raises(ValueError, match="search='angular' needs a constrained oracle"):
            SlackRescaling("angular").wrap(problem)


def counted_costs(rng, n_labels):
    """Multiples of 0.5, which is one of them."""
    cost = 0.5 * rng.integers(4, size=n_labels)
    cost[0] = 0.5
    return cost


def check_searches(model, truth, cost, gains, pairwise, sets, offset):
    """Both searches find the largest product of margin and loss of the sets, if one counts."""
    problem = model.bind(np.zeros((1, 1)), truth[None], cost, block_weights(1))
    theta = np.zeros(problem.max_statistics)
    base = problem.map.node_base
    theta[: len(pairwise)], theta[base : base + len(gains)] = pairwise, gains
    score = set_scores(np.vstack([truth[None], sets]).astype(int), gains, model.ends, pairwise)
    h, g = offset + score[1:] - score[0], np.abs(sets - truth.astype(int)) @ cost
    best = np.max((h * g)[(h > 0) & (g > 0)], initial=0.0)
    for name in ("exact", "angular"):
        search = SlackRescaling(name).wrap(problem)
        for wrapped in (search, search.fork()):
            probe = ProblemProbe(wrapped)
            code, value = probe.argmax(0, theta, offset)
            loss = np.array(code[-2:], dtype=np.int32).view(np.float64)[0]
            found = np.array(code[: len(truth)]) >> 30
            assert (sets == found).all(axis=1).any()
            assert loss == pytest.approx(np.abs(found - truth.astype(int)) @ cost)
            margin = offset + set_scores(found[None], gains, model.ends, pairwise)[0] - score[0]
            assert max(loss * margin, 0.0) == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n", range(1, 9))
def test_the_largest_product_of_all_sets(n):
    """By the programme for losses that count on forests, and by trying all sets."""
    for seed in range(5):
        check_sets(np.random.default_rng([n, seed]), n)
        check_hierarchy(np.random.default_rng([seed, n]), n)


def check_sets(rng, n):
    truth, offset = rng.integers(2, size=n).astype(np.uint8), float(rng.choice([0.2, 1.0, 3.0]))
    edges = random_forest(rng, n, int(rng.integers(n)))
    counts = counted_costs(rng, n)
    others = rng.choice([0.0, 0.25, 1.0, 3.0], size=n) * rng.exponential(size=n)
    for cost in (counts, others):
        model = PairwiseModel(1, n, edges, False)
        pairwise = rng.normal(size=len(edges)) * rng.choice([1, 5])
        check_searches(model, truth, cost, rng.normal(size=n), pairwise, all_sets(n), offset)
    gains, edges, pairwise = random_model(rng, n, 0.7)
    name = "exhaustive" if len(edges) else "auto"
    model = PairwiseModel(1, n, edges, False, name)
    check_searches(model, truth, others, gains, pairwise, all_sets(n), offset)


def check_hierarchy(rng, n):
    names = rng.permutation(n)
    edges = [(names[v], names[rng.integers(v)]) for v in range(1, n) if rng.random() < 0.8]
    model = HierarchyModel(1, n, np.array(edges, dtype=np.int32).reshape(-1, 2), False)
    sets = all_sets(n)
    sets = sets[(model.hierarchy.closed(sets.astype(np.uint8)) == sets).all(axis=1)]
    truth = sets[rng.integers(len(sets))].astype(np.uint8)
    cost = counted_costs(rng, n)
    offset = float(rng.choice([0.2, 1.0, 3.0]))
    check_searches(model, truth, cost, rng.normal(size=n), np.empty(0), sets, offset)
