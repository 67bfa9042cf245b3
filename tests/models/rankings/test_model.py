"""Sets of rows bound to data: the contract, and the optimum."""

import numpy as np
import pytest
from helpers.qp import solve_primal
from helpers.toys import ranking_toy

from sskit.models.rankings.model import RankingModel
from sskit.solvers import BCFW, CuttingPlane
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_contract(form):
    check_problem(ranking_toy(0, form=form, sizes=(5, 1, 3)).problem, 0)


@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0, 0.5]])
def test_the_optimum(weights):
    toy = ranking_toy(1, n=4, weights=weights, sizes=(5, 2, 4))
    _, optimum = solve_primal(toy.pairs, 0.1)
    for solver in (BCFW(), CuttingPlane()):
        solution = solver.solve(toy.problem, toy.regularizer(0.1), tol=1e-4, random_state=0)
        assert solution.certified
        assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
        assert solution.gap <= 1e-4 * (solution.primal + 1e-3)
        primal = toy.pairs.primal(toy.flat(solution.w), 0.1)
        assert solution.primal == pytest.approx(primal, abs=1e-10)


def test_layout():
    assert RankingModel(4).layout.shapes == {"coef": (1, 4)}


def test_grades_are_compared_within_a_set():
    X, offsets = np.eye(5), [0, 2, 5]
    weight = np.array([0.5, 0.5])
    one, other = (
        RankingModel(5).bind(X, offsets, np.array(grades), weight)
        for grades in ([1.0, 7.5, -3.0, 2.0, 7.5], [0, 1, 0, 1, 2])
    )
    assert one.fingerprint().difference(other.fingerprint()) is None


def test_a_fork_has_scratch_memory_of_its_own():
    problem = ranking_toy(0).problem
    fork = problem.fork()
    assert fork is not problem
    assert fork.fingerprint().difference(problem.fingerprint()) is None


def test_codes_from_elsewhere():
    problem = RankingModel(2).bind(np.ones((3, 2)), [0, 3], np.array([1, 0, 0]), np.ones(1))
    probe = ProblemProbe(problem)
    code, _ = probe.argmax(0, np.zeros(problem.max_statistics))
    for right in (np.zeros(3, dtype=np.int32), np.array(code, dtype=np.int32)):
        probe.plane(0, right)
    for wrong in ([1, 0, 0], [3, 0, -3], [0, -1, 1]):
        with pytest.raises(ValueError, match="has no plane of the code"):
            probe.plane(0, np.array(wrong, dtype=np.int32))
