"""Answers of the multiclass model, with costs and components, are those of the enumeration."""

import numpy as np
import pytest
from helpers.laws import check_moved, solve_toy
from helpers.models import MODELS
from helpers.qp import solve_primal
from helpers.toys import bind_rows, component_toy
from hypothesis import given, settings
from hypothesis import strategies as st
from sskit_probes.core_probe import mix_of, planes_of

from sskit.core.dual import DualState
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import change_truths, restore, truth_gains
from sskit.testing.probe import ProblemProbe


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


# ---- classes of several components --------------------------------------------------------------


CLASS_OF = np.array([0, 1, 1])


@given(st.integers(0, 2**31), st.sampled_from([0.0, 0.3, 1.0, 7.0]))
@settings(max_examples=40, deadline=None)
def test_the_best_component_is_that_of_enumeration(seed, loss_weight):
    toy = component_toy(seed, n=4)
    probe, rng = ProblemProbe(toy.problem), np.random.default_rng(seed)
    for i in range(4):
        theta = np.zeros(toy.problem.max_statistics)
        theta[:3] = rng.integers(-2, 3, size=3) / 2
        truth = probe.truth(i)[0]
        code, loss = probe.argmax(i, theta, loss_weight)
        losses = np.not_equal(CLASS_OF, CLASS_OF[truth])
        values = theta[:3] + loss_weight * losses
        assert values[code[0]] == values.max()
        assert loss == losses[code[0]]
        assert code[0] == truth or values[code[0]] > values[truth]


def test_moved_truths_are_feasible_and_keep_the_other_blocks():
    toy, rows = component_toy(4, n=30), np.arange(30)
    problem = toy.problem
    point = solve_toy(BCFW(steps="pairwise", cache=True), toy, 0.05, tol=0.05).fit.save()
    old = np.array([found[0] for found in toy.pairs.labels])
    new = np.where((old == 1) & (rows % 2 == 0), 2, old)
    after = problem.with_truth(new)
    blocks, before = change_truths(point.blocks, after, problem), DualState(problem)
    dual, probe = check_moved(after, blocks, 0.05, lambda i, rest: new[i] != old[i])
    restore(before, point.blocks)
    for i in rows:
        codes, _, losses, _ = planes_of(dual, i)
        np.testing.assert_array_equal(losses, CLASS_OF[np.ravel(codes)] != CLASS_OF[old[i]])
        assert probe.truth(i) == [new[i]]
        if new[i] == old[i]:
            for one, other in zip(mix_of(dual, i), mix_of(before, i), strict=True):
                np.testing.assert_array_equal(one, other)
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    gains = truth_gains(after, problem, toy.regularizer(0.05).padded(w))
    scores = np.column_stack([toy.X, np.ones(30)]) @ w.reshape(-1, 3)
    np.testing.assert_allclose(gains, scores[rows, new] - scores[rows, old], atol=1e-12)
    assert "the costs of pairs" in problem.fingerprint().whole
