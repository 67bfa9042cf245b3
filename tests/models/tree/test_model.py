"""The tree model: its contract, and what it makes of trees, against enumeration."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.pairwise import every_pair
from helpers.paper import Enumerated
from helpers.qp import solve_primal
from helpers.trees import random_parents

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.inputs.trees import check_trees
from sskit.models.tree import TreeModel, feature_scale, kinds_of_trees
from sskit.solvers import BCFW, FrankWolfe, MultiPlane, Subgradient
from sskit.testing.problem_checks import check_problem


def random_trees(rng, n=4, p=3, n_states=3, max_nodes=4, n_kinds=None):
    trees, y = [], []
    for _ in range(n):
        n_nodes = int(rng.integers(1, max_nodes + 1))
        parents = random_parents(rng, n_nodes, int(rng.integers(1, n_nodes + 1)))
        tree = rng.normal(size=(n_nodes, p)), parents
        trees.append(tree if n_kinds is None else (*tree, rng.integers(n_kinds, size=n_nodes)))
        y.append(rng.integers(n_states, size=n_nodes))
    return trees, y


def feature(tree, y, n_states, known=(0,)):
    """phi(x, y): coef (K, p), root, leaf, transitions of the known kinds, by rows."""
    x, parents, kinds = (*tree, np.zeros(len(y), dtype=int))[:3]
    one = np.eye(n_states)
    coef, transitions = np.zeros((n_states, x.shape[1])), np.zeros((len(known), n_states, n_states))
    root, leaf = np.zeros(n_states), np.zeros(n_states)
    for v, row in enumerate(x):
        coef += np.outer(one[y[v]], row)
        if parents[v] < 0:
            root += one[y[v]]
        else:
            transitions[list(known).index(kinds[v]), y[parents[v]], y[v]] += 1
        if v not in parents:
            leaf += one[y[v]]
    return np.concatenate([coef.ravel(), root, leaf, transitions.ravel()])


def bound(trees, y, n_states, form="dense"):
    c = block_weights(len(trees))
    given = [(sp.csr_array(x), *rest) for x, *rest in trees] if form == "csr" else trees
    batch = check_trees(given)
    known = None if batch.kinds is None else np.unique(batch.kinds)
    model = TreeModel(trees[0][0].shape[1], n_states, known)
    cost = np.concatenate([np.full(len(truth), 1.0 / len(truth)) for truth in y])
    problem = model.bind(batch, np.concatenate(y), cost, None, c)
    known = (0,) if known is None else known.tolist()
    psi, loss, labels = [], [], []
    for tree, truth in zip(trees, y, strict=True):
        found = [np.array(z) for z in itertools.product(range(n_states), repeat=len(truth))]
        right = feature(tree, truth, n_states, known)
        psi.append(np.array([right - feature(tree, z, n_states, known) for z in found]))
        loss.append(np.array([np.mean(z != truth) for z in found]))
        labels.append(found)
    return model, problem, Enumerated(psi, loss, labels, c)


def flat(model, w):
    return np.concatenate([block.ravel() for block in model.layout.split(w).values()])


@every_pair(n_states=[1, 2, 3, 9], form=["dense", "csr"], n_kinds=[None, 1, 3])
def test_contract(n_states, form, n_kinds):
    rng = np.random.default_rng(n_states)
    max_nodes = 3 if n_states == 9 else 5
    trees, y = random_trees(rng, n_states=n_states, max_nodes=max_nodes, n_kinds=n_kinds)
    problem = bound(trees, y, n_states, form)[1]
    assert problem.exact and problem.costly
    check_problem(problem, 0)


@pytest.mark.parametrize(
    "solver", [BCFW(), BCFW(steps="fw"), MultiPlane(), FrankWolfe(), Subgradient()]
)
@pytest.mark.parametrize(("form", "n_kinds"), [("dense", None), ("csr", None), ("dense", 2)])
def test_certificates_bracket_the_optimum_of_the_quadratic_program(solver, form, n_kinds):
    trees, y = random_trees(np.random.default_rng(1), n_kinds=n_kinds)
    model, problem, pairs = bound(trees, y, 3, form)
    _, optimum = solve_primal(pairs, 0.2)
    solution = solver.solve(
        problem, Regularizer(0.2, problem.n_weights), tol=1e-3, max_iter=500, random_state=0
    )
    assert solution.certified
    primal = pairs.primal(flat(model, solution.w), 0.2)
    assert solution.primal == pytest.approx(primal, abs=1e-10)
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8
    assert solution.gap <= 0.1 * solution.unit


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_kinds", [None, 3])
def test_decoder_equals_enumeration(n_jobs, n_kinds):
    rng = np.random.default_rng(2)
    trees, y = random_trees(rng, n=6, max_nodes=5, n_kinds=n_kinds)
    model, _, pairs = bound(trees, y, 3)
    w = rng.normal(size=model.layout.n_weights)
    batch = check_trees(trees)
    kinds = None if n_kinds is None else np.unique(batch.kinds)
    coef, *others = model.layout.split(w).values()
    decoder = model.decoder(batch, coef, others, n_jobs)
    kinds = (0,) if kinds is None else kinds.tolist()
    best, marginals = decoder.best(), decoder.max_marginals()
    labels, scores = decoder.top_k(5)
    start = 0
    for i, tree in enumerate(trees):
        n_nodes = len(tree[0])
        values = np.array([feature(tree, z, 3, kinds) @ flat(model, w) for z in pairs.labels[i]])
        known = np.array(pairs.labels[i])
        order = np.argsort(-values)[:5]
        np.testing.assert_array_equal(best[start : start + n_nodes], known[order[0]])
        np.testing.assert_array_equal(labels[i], known[order])
        np.testing.assert_allclose(scores[i], values[order])
        for v in range(n_nodes):
            for k in range(3):
                expected = values[known[:, v] == k].max()
                assert marginals[start + v, k] == pytest.approx(expected)
        start += n_nodes


def test_the_scale_of_features():
    trees = check_trees([([[1.0, 1.0], [2.0, 0.0]], [-1, 0]), ([[0.0, 3.0]], [-1])])
    assert feature_scale(trees, None).mean == pytest.approx((2 + 4 + 9) / 3)
    assert feature_scale(trees, np.array([3.0, 0.0])).mean == pytest.approx((2 + 4) / 2)
    with pytest.raises(ValueError, match="overflow"):
        feature_scale(check_trees([([[1e200]], [-1])]), None)


def test_trees_hold_a_table_for_each_kind_that_they_have():
    codes, offsets = np.array([2, 0, 2, 1, 1], dtype=np.int32), np.array([0, 3, 3, 5])
    kinds, first, table = kinds_of_trees(codes, offsets, 3)
    assert first.tolist() == [0, 2, 2, 3]
    assert (kinds.n_rows, kinds.n_features) == (3, 3)
    assert kinds.sqnorms().tolist() == [1, 1, 1]
    assert table.tolist() == [1, 0, 1, 0, 0]


def test_what_edges_share_is_held_once():
    rng = np.random.default_rng(0)
    tree = rng.normal(size=(30, 2)), random_parents(rng, 30)
    given = np.zeros(30, dtype=int), np.ones(30), None, np.ones(1)
    tied = TreeModel(2, 8).bind(check_trees([tree]), *given)
    kinds = np.arange(30) % 2
    by_kind = TreeModel(2, 8, np.arange(2)).bind(check_trees([(*tree, kinds)]), *given)
    assert tied.max_statistics == 30 * 8 + 64
    assert by_kind.max_statistics == 30 * 8 + 2 * 64
