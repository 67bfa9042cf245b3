"""The multiclass model bound to data."""

import numpy as np
import pytest
from helpers.laws import solve_toy
from helpers.models import MODELS
from helpers.qp import solve_primal
from helpers.toys import bind_rows, multiclass_toy

from sskit.solvers import BCFW
from sskit.testing.probe import ProblemProbe


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_intercept_is_a_constant_feature(form):
    toy = multiclass_toy(0, form=form, intercept=True)
    X = np.column_stack([toy.X, np.ones(len(toy.X))])
    labels = [found[0] for found in toy.pairs.labels]
    wider = bind_rows(X, labels, 3, form, intercept=False)
    solutions = [
        solve_toy(BCFW(steps="fw", averaging=False), t, 0.1, tol=1e-3) for t in (toy, wider)
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


def test_costs_of_pairs_of_classes():
    """Losses of labels are the row of the truth, for steps towards all of them at once too."""
    toy = MODELS["costs of classes"]()
    _, optimum = solve_primal(toy.pairs, 0.1)
    for steps in ("projection", "pairwise"):
        solution = solve_toy(BCFW(steps=steps, averaging=False), toy, 0.1, tol=1e-4)
        assert solution.dual <= optimum + 1e-9 and optimum - 1e-9 <= solution.primal
        assert solution.primal == pytest.approx(optimum, rel=2e-3)
