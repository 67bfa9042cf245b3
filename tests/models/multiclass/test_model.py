"""The multiclass model bound to data."""

import numpy as np
import pytest
from helpers.qp import solve_primal
from helpers.toys import bind_rows, multiclass_toy

from sskit.models.multiclass import MulticlassModel
from sskit.solvers import BCFW
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


def test_layout():
    assert MulticlassModel(4, 3, True).layout.shapes == {"coef": (3, 4), "intercept": (3,)}
    assert MulticlassModel(4, 3, False).layout.shapes == {"coef": (3, 4)}


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_intercept_is_a_constant_feature(form):
    toy = multiclass_toy(0, form=form, intercept=True)
    X = np.column_stack([toy.X, np.ones(len(toy.X))])
    labels = [found[0] for found in toy.pairs.labels]
    wider = bind_rows(X, labels, 3, form, intercept=False)
    solutions = [
        BCFW(steps="fw", averaging=False).solve(
            t.problem, t.regularizer(0.1), tol=1e-3, random_state=0
        )
        for t in (toy, wider)
    ]
    one, other = (t.layout.split(s.w) for t, s in zip((toy, wider), solutions, strict=True))
    np.testing.assert_allclose(one["coef"], other["coef"][:, :-1], atol=1e-12)
    np.testing.assert_allclose(one["intercept"], other["coef"][:, -1], atol=1e-12)


def test_ties_go_to_the_truth_then_to_the_smallest_class():
    toy = bind_rows(np.ones((3, 2)), [2, 0, 1], 4)
    probe = ProblemProbe(toy.problem)
    flat = np.zeros(toy.problem.max_statistics)
    assert [probe.argmax(i, flat, 0.0) for i in range(3)] == [([2], 0.0), ([0], 0.0), ([1], 0.0)]
    assert [probe.argmax(i, flat, 1.0) for i in range(3)] == [([0], 1.0), ([1], 1.0), ([0], 1.0)]


def test_two_classes_and_thirty_three():
    for n_states in (2, 33):
        toy = multiclass_toy(1, n=20, n_states=n_states, p=2)
        solution = BCFW(averaging=False).solve(
            toy.problem, toy.regularizer(0.5), tol=1e-3, random_state=0
        )
        _, optimum = solve_primal(toy.pairs, 0.5)
        assert solution.dual <= optimum + 1e-9
        assert optimum - 1e-9 <= solution.primal <= optimum + 1e-3


def test_costs_of_pairs_of_classes():
    """Losses of labels are the row of the truth, for steps towards all of them at once too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
    table = rng.integers(4, size=(3, 3)) * (1.0 - np.eye(3))
    toy = bind_rows(X, y, 3, table=table)
    toy.pairs.loss = [table[truth, found] for truth, found in zip(y, toy.pairs.labels, strict=True)]
    check_problem(toy.problem, 0)
    _, optimum = solve_primal(toy.pairs, 0.1)
    for steps in ("projection", "pairwise"):
        solution = BCFW(steps=steps, averaging=False).solve(
            toy.problem, toy.regularizer(0.1), tol=1e-4, random_state=0
        )
        assert solution.dual <= optimum + 1e-9 and optimum - 1e-9 <= solution.primal
        assert solution.primal == pytest.approx(optimum, rel=2e-3)


def test_laws_of_problems():
    check_problem(multiclass_toy(0).problem, 0)


def test_extreme_weights_keep_the_oracle_exact():
    toy = multiclass_toy(2)
    probe = ProblemProbe(toy.problem)
    for scale in (1e-300, 1e150):
        w = np.random.default_rng(0).normal(scale=scale, size=toy.pairs.d)
        for i in range(toy.pairs.n):
            code, _ = probe.argmax(i, probe.scores(i, toy.unflat(w)))
            values = toy.pairs.loss[i] - toy.pairs.psi[i] @ w
            assert values[toy.pairs.labels[i].index(code[0])] == values.max()
