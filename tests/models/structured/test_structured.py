"""Structures written in Python: equal to the compiled ones, dense or sparse, exact or not."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.crossing import in_turn
from helpers.structures import Chains, Classes, Numbers, Signs, bind
from helpers.toys import chain_toy, multiclass_toy
from sklearn.base import clone
from sskit_probes.core_probe import DualProbe

from sskit.core.dual import DualState
from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, Subgradient
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


def chain_pair(form="dense", seed=0):
    """The same chains, compiled and in Python."""
    toy = chain_toy(seed, n=7)
    truths = [np.array(y, dtype=np.int32) for y in truths_of(toy.pairs)]
    return toy.problem, bind(Chains(toy.n_states, form), toy.X, truths), toy


def class_pair(form="dense", seed=0):
    """The same rows and classes, compiled and in Python."""
    toy = multiclass_toy(seed, n=15, intercept=False)
    truths = truths_of(toy.pairs)
    return toy.problem, bind(Classes(3, form == "csr"), toy.X, truths), toy


def truths_of(pairs):
    """The labellings whose loss is zero."""
    return [pairs.labels[i][int(np.argmin(pairs.loss[i]))] for i in range(pairs.n)]


PAIRS = pytest.mark.parametrize("pair", [chain_pair, class_pair])
PLAIN = BCFW(steps="fw", sampling="permutation", cache=False)
SOLVERS = [
    PLAIN,
    clone(PLAIN).set_params(sampling="uniform", averaging=False),
    FrankWolfe(),
    Subgradient(),
]
# Steps between stored planes, whose scores become equal: there the last digit decides.
PLANE_SOLVERS = [
    BCFW(steps="pairwise"),
    BCFW(steps="away", sampling="gap", block_steps=1),
    BCFW(steps="pairwise", sampling="gap", cache=True),
    CuttingPlane(),
]


@pytest.mark.parametrize(("solver", "pair"), in_turn(SOLVERS, [chain_pair, class_pair], 2))
def test_iterates_are_those_of_the_compiled_model(pair, solver):
    compiled, python, toy = pair()
    iterates = []
    for problem in (compiled, python):
        seen = []
        solution = solver.solve(
            problem, Regularizer(0.1, problem.n_weights), tol=1e-3, max_iter=40, random_state=3,
            on_pass=lambda _, w, seen=seen: seen.append(w()),
        )  # fmt: skip
        iterates.append((np.array(seen), solution))
    (one, first), (other, second) = iterates
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-9)
    np.testing.assert_allclose(second.w, first.w, rtol=0, atol=1e-9)
    for name in ("primal", "dual", "gap", "unit"):
        assert getattr(second, name) == pytest.approx(getattr(first, name), abs=1e-9)
    assert second.certified


@pytest.mark.parametrize(("solver", "pair"), in_turn(PLANE_SOLVERS, [chain_pair, class_pair]))
def test_optima_are_those_of_the_compiled_model(pair, solver):
    compiled, python, toy = pair()
    one, other = (
        solver.solve(problem, Regularizer(0.1, problem.n_weights), tol=1e-8, random_state=3)
        for problem in (compiled, python)
    )
    np.testing.assert_allclose(other.w, one.w, rtol=0, atol=1e-3)
    assert other.primal == pytest.approx(one.primal, abs=2e-8)
    assert other.dual == pytest.approx(one.dual, abs=2e-8)
    assert other.gap <= 1e-8


def test_sparse_joint_features_are_the_dense_ones():
    one, *others = (
        PLAIN.solve(problem, Regularizer(0.1, problem.n_weights), tol=0, max_iter=8, random_state=0)
        for _, problem, _ in map(chain_pair, ["dense", "csr", "triplets", "column", "repeated"])
    )
    for other in others:
        np.testing.assert_allclose(other.w, one.w, rtol=0, atol=1e-12)
        assert other.n_iter == one.n_iter


@pytest.mark.skipif(not hasattr(sp.coo_array([[1]]), "coords"), reason="SciPy < 1.13")
def test_one_dimensional_sparse_arrays():
    model = Signs({"joint_feature": lambda x, y: sp.coo_array(y * x)})
    probe = ProblemProbe(bind(model, [np.array([0.0, 2.0])], [1]))
    assert probe.argmax(0, probe.scores(0, np.zeros(2))) == ([1], 1.0)


@PAIRS
def test_contract(pair):
    _, python, toy = pair()
    structure = python.structure.answers
    for exact in (True, False):
        problem = bind(structure.model, structure.X, structure.Y, exact=exact)
        check_problem(problem, 0)
    # no certificate without an exact oracle
    solution = PLAIN.solve(problem, Regularizer(0.1, problem.n_weights), tol=0.05)
    assert not solution.certified


@PAIRS
def test_box_and_threads(pair):
    compiled, python, toy = pair()
    d = python.n_weights
    solutions = [
        PLAIN.solve(
            problem, BoxRegularizer(0.1, np.full(d, -0.2), np.full(d, 0.3)), tol=0.02,
            n_jobs=n_jobs, random_state=0,
        )
        for problem, n_jobs in ((compiled, None), (python, None), (python, 3))
    ]  # fmt: skip
    np.testing.assert_allclose(solutions[1].w, solutions[0].w, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(solutions[2].w, solutions[1].w)
    assert solutions[2].gap == solutions[1].gap


def test_loss_weight_is_a_share_of_the_loss():
    compiled, python, toy = class_pair()
    ours, theirs = ProblemProbe(python), ProblemProbe(compiled)
    w = np.random.default_rng(0).normal(size=python.n_weights)
    for i in range(python.n_blocks):
        for loss_weight in (0.0, 0.3, 1.0, 2.0):
            theta, potentials = ours.scores(i, w), theirs.scores(i, w)
            found = ours.argmax(i, theta, loss_weight)
            expected = theirs.argmax(i, potentials, loss_weight)
            assert found[1] == expected[1]
            np.testing.assert_allclose(
                ours.plane(i, found[0]) @ theta, theirs.plane(i, expected[0]) @ potentials
            )


# ---- bounds and oracles that are not exact -----------------------------------------------


def test_an_inexact_answer_is_replaced_by_a_kept_plane_or_the_truth():
    problem = bind(Numbers(), [0], [0], exact=False)
    probe = DualProbe(problem, DualState(problem))

    def best(w):
        return probe.argmax(0, probe.scores(0, np.array(w)))

    two, loss = best([2.0, 0.0])
    assert best([3.0, -5.0]) == ([0], 0.0)  # the truth is better
    two, loss = best([2.0, 0.0])
    probe.insert(0, two, loss)
    assert best([1.0, 5.0]) == (two, 1.0)
    three, _ = best([3.0, 5.0])
    assert probe.plane(0, three)[1] == -3
    probe.evict(0, 1)
    one, _ = best([1.0, 5.0])
    assert probe.plane(0, one)[1] == -1
    assert problem.plane_store.n_planes == 1
