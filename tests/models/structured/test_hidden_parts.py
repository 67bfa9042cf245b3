"""Problems in Python whose truths are completions keep planes of the present truth."""

import numpy as np
import pytest
from helpers.hidden import Styles, make_styles
from helpers.laws import check_moved
from hypothesis import given, settings
from hypothesis import strategies as st

from sskit.core.regularizer import Regularizer
from sskit.models.structured.binding import PythonBinding
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import change_truths, truth_gains
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem

LAM = 0.05
X, Y = make_styles(24)
STRUCTURE = Styles()


def bind():
    first = [(y, 0) for y in Y]
    return PythonBinding(STRUCTURE).bind_full(X, Y, np.full(len(X), 1 / len(X)), first)[0]


def phi(i, y):
    return STRUCTURE.joint_feature(X[i], y)


@given(st.integers(0, 2**31))
@settings(max_examples=8, deadline=None)
def test_planes_are_differences_from_the_present_truth(seed):
    problem, rng = bind(), np.random.default_rng(seed)
    styles = rng.integers(2, size=len(X)).tolist()
    truths = problem.structure.completed(list(zip(Y, styles, strict=True)))
    after = problem.with_truth(truths)
    check_problem(after, 0, n_trials=1)
    w = rng.normal(size=problem.n_weights)
    padded = Regularizer(LAM, problem.n_weights).padded(w)
    gains = truth_gains(after, problem, padded)
    probe, before = ProblemProbe(after), ProblemProbe(problem)
    for i, style in enumerate(styles):
        assert gains[i] == pytest.approx(w @ (phi(i, (Y[i], style)) - phi(i, (Y[i], 0))))
        assert probe.truth(i) == [truths[i]]
        assert not np.any(probe.plane(i, probe.truth(i)))
        theta = probe.scores(i, w)
        code, loss = probe.argmax(i, theta, 1.0)
        y = STRUCTURE.argmax(X[i], w, Y[i])
        expected = phi(i, (Y[i], style)) - phi(i, y)
        np.testing.assert_allclose(np.asarray(probe.plane(i, code))[: len(w)], expected, atol=1e-12)
        assert loss == STRUCTURE.loss(Y[i], y)
        old = np.asarray(before.plane(i, before.argmax(i, theta, 1.0)[0]))
        np.testing.assert_allclose(old[: len(w)], phi(i, (Y[i], 0)) - phi(i, y), atol=1e-12)


@pytest.mark.parametrize("steps", ["pairwise", "fw"])
def test_moved_points_are_dual_points_of_the_new_problem(steps):
    problem = bind()
    regularizer = Regularizer(LAM, problem.n_weights)
    solution = BCFW(steps=steps, cache=True).solve(problem, regularizer, tol=0.05, random_state=0)
    saved = solution.fit.save().blocks
    found = [STRUCTURE.complete(x, y, solution.w) for x, y in zip(X, Y, strict=True)]
    truths = problem.structure.completed(found)
    assert 0 < (truths != 0).sum() < len(truths)
    after, current, kept = problem.with_truth(truths), problem, problem.plane_store.n_planes
    for new in (after, problem, after):  # there, back and there again
        saved = change_truths(saved, new, current)
        # else the aggregate plane stays, whose labellings are not known
        whole = (truths != 0) | (new is not after or steps != "fw")
        check_moved(new, saved, LAM, lambda i, rest, whole=whole: whole[i] and rest < 1e-12)
        current = new
    del solution
    assert problem.plane_store.n_planes <= kept + len(X)


def test_completions_are_checked():
    problem, w = bind(), np.random.default_rng(0).normal(size=24)
    completed = problem.structure.completed
    with pytest.raises(ValueError, match="of sample 1 has the loss 1.0, expected 0"):
        completed([(Y[0], 0), ((Y[1] + 1) % 3, 0), *((y, 0) for y in Y[2:])])
    one, same = (completed([(y, 1) for y in Y]) for _ in range(2))
    np.testing.assert_array_equal(one, same)
    # an exact one must not be worse than one before
    best = [STRUCTURE.complete(x, y, w) for x, y in zip(X, Y, strict=True)]
    completed(best, w)
    with pytest.raises(ValueError, match="returned a labelling that is worse than one that it"):
        completed([(y, 1 - s) for y, s in best], w)
    inexact = Styles()
    inexact.exact = False
    problem = PythonBinding(inexact).bind_full(X, Y, np.full(len(X), 1 / len(X)), best)[0]
    assert (problem.structure.completed([(y, 1 - s) for y, s in best], w) == 0).all()
