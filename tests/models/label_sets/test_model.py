"""The models of sets of labels: contract, optima, relaxation, prediction, fingerprints."""

import numpy as np
import pytest
from helpers.label_sets import random_forest, random_model, set_scores
from helpers.laws import solve_toy
from helpers.models import EDGES, FULL, HIERARCHIES, NONE, TREE
from helpers.multilabel import ONE, all_sets
from helpers.qp import solve_primal
from helpers.toys import bind_sets, multilabel_toy
from sskit_probes.factor_probe import FactorProbe

from sskit.core.problem import block_weights
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel, choose_inference
from sskit.models.slack.model import SlackRescaling
from sskit.solvers import BCFW
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


def random_rows(seed, n=5, p=3, n_labels=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.integers(2, size=(n, n_labels)).astype(np.uint8)


def model_of(inference):
    """A model of four labels."""
    name = "auto" if inference == "independent" else inference
    model = PairwiseModel(3, 4, EDGES[inference], True, name)
    assert model.inference == inference
    return model


def test_contract_of_few_and_many_labels():
    for n_labels in (1, 2, 8, 9, 17):
        X, truths = random_rows(2, n_labels=n_labels)
        ends = np.stack([np.arange(n_labels - 1), np.arange(1, n_labels)], axis=1)
        model = PairwiseModel(3, n_labels, ends.astype(np.int32), True)
        check_problem(model.bind(X, truths, np.ones(n_labels), block_weights(5)), 0)


def test_bounds_of_cuts_bind():
    toy = multilabel_toy(5, n=6, inference="graphcut")
    box = toy.layout.bounds(None)
    flat_box = tuple(toy.flat(bound) for bound in box)
    w, optimum = solve_primal(toy.pairs, 0.1, flat_box)
    solution = solve_toy(BCFW(), toy, 0.1, flat_box, tol=1e-4, max_iter=5000)
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8
    assert solution.gap <= 1e-4 * solution.unit
    free = solve_primal(toy.pairs, 0.1)[0]
    assert free[-3:].min() < 0 <= w[-3:].min() + 1e-9


def test_fractions_are_planes():
    toy = multilabel_toy(0, inference="lp")
    probe = ProblemProbe(toy.problem)
    truth = np.array(probe.truth(0))
    labels = truth[:3] // ONE
    code = np.array([ONE // 2] * 3 + [0, ONE // 2, 0], dtype=np.int32)
    psi = probe.plane(0, code)
    np.testing.assert_array_equal(psi[8:11], labels - 0.5)
    np.testing.assert_array_equal(psi[:3], truth[3:] / ONE - [0.0, 0.5, 0.0])
    assert np.count_nonzero(psi) <= 6


def score(y, scores, ends, pairs):
    return y @ scores + pairs @ (y[ends[:, 0]] * y[ends[:, 1]])


@pytest.mark.parametrize("inference", EDGES)
def test_prediction(inference):
    rng = np.random.default_rng(8)
    model = model_of(inference)
    scores, pairs = rng.normal(size=(50, 4)), rng.normal(size=len(model.ends))
    if inference == "graphcut":
        pairs = np.abs(pairs)
    sets = model.best_sets(scores, pairs)
    gains = model.gains(scores, sets, pairs)
    np.testing.assert_array_equal(sets, gains > 0)
    for y, row, gain in zip(sets, scores, gains, strict=True):
        value = score(y, row, model.ends, pairs)
        for j in range(4):
            other = y.copy()
            other[j] = 1 - y[j]
            difference = (value - score(other, row, model.ends, pairs)) * (2 * y[j] - 1.0)
            assert gain[j] == pytest.approx(difference, abs=1e-12)
        if inference != "lp":
            best = max(score(other, row, model.ends, pairs) for other in all_sets(4))
            assert value == pytest.approx(best, abs=1e-12)


def test_rounding_climbs_and_drops_what_gains_nothing():
    # a triangle that repels: the relaxation has all labels by half
    ends = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    model = PairwiseModel(1, 3, ends, True, "lp")
    sets = model.best_sets(np.ones((1, 3)), np.full(3, -5.0))
    assert sets.sum() == 1
    assert not model.best_sets(np.zeros((1, 3)), np.zeros(3)).any()
    assert not PairwiseModel(1, 3, NONE, True).best_sets(np.zeros((1, 3)), np.empty(0)).any()


@pytest.mark.parametrize("inference", EDGES)
def test_prediction_with_known_labels(inference):
    rng = np.random.default_rng(10)
    model = model_of(inference)
    scores, pairs = rng.normal(size=(80, 4)), 3.0 * rng.normal(size=len(model.ends))
    if inference == "graphcut":
        pairs = np.abs(pairs)
    known = rng.choice(np.array([-1, -1, 0, 1], dtype=np.int8), size=(80, 4))
    known[:4] = [[-1] * 4, [0] * 4, [1] * 4, [1, 0, 1, 0]]
    fixed = model.implied(known)
    sets = model.best_sets(scores, pairs, fixed)
    np.testing.assert_array_equal(sets[:1], model.best_sets(scores[:1], pairs))
    np.testing.assert_array_equal(sets[known >= 0], known[known >= 0])
    gains = model.gains(scores, sets, pairs)
    # no label that is free gains by being otherwise
    assert (np.where(sets == 1, gains, -gains)[known < 0] >= -1e-12).all()
    for y, row, given in zip(sets, scores, known, strict=True):
        possible = all_sets(4)
        possible = possible[((possible == given) | (given < 0)).all(axis=1)]
        best = max(score(other, row, model.ends, pairs) for other in possible)
        assert score(y, row, model.ends, pairs) == pytest.approx(best, abs=1e-12) or (
            inference == "lp"
        )
    assert (sets != model.best_sets(scores, pairs))[known < 0].any() == (inference != "independent")


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_prediction_of_hierarchies_with_known_labels(hierarchy):
    rng = np.random.default_rng(11)
    model = HierarchyModel(1, 4, HIERARCHIES[hierarchy], True)
    possible = np.unique(model.hierarchy.closed(all_sets(4)), axis=0)
    scores = rng.normal(size=(200, 4))
    known = rng.choice(np.array([-1, -1, 0, 1], dtype=np.int8), size=(200, 4))
    agree = ((possible == known[:, None]) | (known[:, None] < 0)).all(axis=2)
    refused = 0
    for row, given, allowed in zip(scores, known, agree, strict=True):
        if not allowed.any():
            refused += 1
            with pytest.raises(ValueError, match=r"^known\[0\] has label \d, but not label \d, an"):
                model.implied(given[None])
            continue
        fixed = model.implied(given[None])
        same = (possible[allowed] == possible[allowed][0]).all(axis=0)
        np.testing.assert_array_equal(fixed[0] >= 0, same)
        y = model.best_sets(row[None], np.empty(0), fixed)[0]
        assert (possible[allowed] == y).all(axis=1).any()
        assert y @ row == pytest.approx((possible[allowed] @ row).max(), abs=1e-12)
    assert (refused > 0) == (hierarchy != "flat")


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_prediction_of_hierarchies(hierarchy):
    rng = np.random.default_rng(9)
    model = HierarchyModel(1, 4, HIERARCHIES[hierarchy], True)
    scores = rng.normal(size=(60, 4))
    sets = model.best_sets(scores, np.empty(0))
    gains = model.gains(scores, sets, np.empty(0))
    possible = np.unique(model.hierarchy.closed(all_sets(4)), axis=0)
    assert (gains[sets == 1] >= -1e-12).all() and (gains[sets == 0] <= 1e-12).all()
    for y, row, gain in zip(sets, scores, gains, strict=True):
        assert y @ row == pytest.approx((possible @ row).max(), abs=1e-12)
        for j in range(4):
            # the nearest sets with and without the label
            ancestors = model.hierarchy.ancestors.toarray()
            other = y * (1 - ancestors[:, j]) if y[j] else np.maximum(y, ancestors[j])
            difference = (y @ row - other @ row) * (2 * y[j] - 1.0)
            assert gain[j] == pytest.approx(difference, abs=1e-12)


def test_choice_of_inference():
    assert choose_inference("auto", NONE, 4) == "independent"
    assert choose_inference("lp", NONE, 4) == "independent"
    assert choose_inference("auto", TREE, 4) == "tree"
    assert choose_inference("auto", FULL, 4) == "exhaustive"
    many = np.stack(np.triu_indices(21, 1), axis=1).astype(np.int32)
    assert choose_inference("auto", many, 21) == "lp"
    with pytest.raises(ValueError, match="^inference='exhaustive' .* at most 20 .* y has 21"):
        choose_inference("exhaustive", many, 21)
    with pytest.raises(ValueError, match="^inference='tree' needs edges without a cycle"):
        choose_inference("tree", FULL, 4)


def test_nothing_given_is_written_to():
    X, truths = random_rows(0)
    for array in (X, truths):
        array.setflags(write=False)
    problem = bind_sets(X, truths, 4).problem
    check_problem(problem, 0, n_trials=1)


# ---- slack rescaling ----------------------------------------------------------------------------


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


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_scores_and_norms_of_factors_are_those_of_their_features(form):
    problem = multilabel_toy(1, form=form, inference="lp").problem
    probe = FactorProbe(problem.decomposition())
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    for i in range(problem.n_blocks):
        found = [probe.node(i, j, y, w) for j in probe.nodes(i) for y in range(2)]
        found += [probe.edge(i, e, pair, w) for e, *_ in probe.edges(i) for pair in range(4)]
        for score, sqnorm, phi in found:
            assert score == pytest.approx(phi @ w, abs=1e-12)
            assert sqnorm == pytest.approx(phi @ phi, abs=1e-12)
