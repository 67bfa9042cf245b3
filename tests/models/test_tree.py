"""The tree model: its contract, and what it makes of trees, against enumeration."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.paper import Enumerated
from helpers.qp import solve_primal
from helpers.trees import random_parents

from sskit.core._problem import block_weights
from sskit.core._regularizer import Regularizer
from sskit.models.tree import TreeModel, default_lam
from sskit.solvers import BCFW, SSG, FrankWolfe, MultiPlane
from sskit.solvers._contract import check_problem
from sskit.utils.trees import check_trees


def random_trees(rng, n=4, p=3, n_states=3, max_nodes=4):
    trees, y = [], []
    for _ in range(n):
        n_nodes = int(rng.integers(1, max_nodes + 1))
        parents = random_parents(rng, n_nodes, int(rng.integers(1, n_nodes + 1)))
        trees.append((rng.normal(size=(n_nodes, p)), parents))
        y.append(rng.integers(n_states, size=n_nodes))
    return trees, y


def feature(tree, y, n_states):
    """phi(x, y): coef (K, p), root, leaf, transitions, by rows."""
    x, parents = tree
    one = np.eye(n_states)
    coef, transitions = np.zeros((n_states, x.shape[1])), np.zeros((n_states, n_states))
    root, leaf = np.zeros(n_states), np.zeros(n_states)
    for v, row in enumerate(x):
        coef += np.outer(one[y[v]], row)
        if parents[v] < 0:
            root += one[y[v]]
        else:
            transitions[y[parents[v]], y[v]] += 1
        if v not in parents:
            leaf += one[y[v]]
    return np.concatenate([coef.ravel(), root, leaf, transitions.ravel()])


def bound(trees, y, n_states, form="dense"):
    c = block_weights(len(trees))
    given = [(sp.csr_array(x), up) for x, up in trees] if form == "csr" else trees
    model = TreeModel(trees[0][0].shape[1], n_states)
    cost = np.concatenate([np.full(len(truth), 1.0 / len(truth)) for truth in y])
    problem = model.bind(check_trees(given), np.concatenate(y), cost, c)
    psi, loss, labels = [], [], []
    for tree, truth in zip(trees, y, strict=True):
        found = [np.array(z) for z in itertools.product(range(n_states), repeat=len(truth))]
        right = feature(tree, truth, n_states)
        psi.append(np.array([right - feature(tree, z, n_states) for z in found]))
        loss.append(np.array([np.mean(z != truth) for z in found]))
        labels.append(found)
    return model, problem, Enumerated(psi, loss, labels, c)


def flat(model, w):
    return np.concatenate([block.ravel() for block in model.layout.split(w).values()])


@pytest.mark.parametrize("n_states", [1, 2, 3, 9])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_contract(n_states, form):
    rng = np.random.default_rng(n_states)
    trees, y = random_trees(rng, n_states=n_states, max_nodes=3 if n_states == 9 else 5)
    problem = bound(trees, y, n_states, form)[1]
    assert problem.exact and problem.costly
    check_problem(problem, 0)


@pytest.mark.parametrize("solver", [BCFW(), BCFW(steps="fw"), MultiPlane(), FrankWolfe(), SSG()])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_certificates_bracket_the_optimum_of_the_quadratic_program(solver, form):
    trees, y = random_trees(np.random.default_rng(1))
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
def test_decoder_equals_enumeration(n_jobs):
    rng = np.random.default_rng(2)
    trees, y = random_trees(rng, n=6, max_nodes=5)
    model, _, pairs = bound(trees, y, 3)
    w = rng.normal(size=model.layout.n_weights)
    decoder = model.decoder(check_trees(trees), w, n_jobs)
    best, marginals = decoder.best(), decoder.max_marginals()
    labels, scores = decoder.top_k(5)
    start = 0
    for i, tree in enumerate(trees):
        n_nodes = len(tree[0])
        values = np.array([feature(tree, z, 3) @ flat(model, w) for z in pairs.labels[i]])
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


def test_default_lam():
    trees = check_trees([([[1.0, 1.0], [2.0, 0.0]], [-1, 0]), ([[0.0, 3.0]], [-1])])
    assert default_lam(trees, None) == pytest.approx((2 + 4 + 9) / 3 / 4 / 2)
    assert default_lam(trees, np.array([3.0, 0.0])) == pytest.approx((2 + 4) / 2 / 4 / 3)
    assert default_lam(check_trees([([[0.0]], [-1])]), None) == 1.0
    with pytest.raises(ValueError, match="overflow"):
        default_lam(check_trees([([[1e200]], [-1])]), None)
