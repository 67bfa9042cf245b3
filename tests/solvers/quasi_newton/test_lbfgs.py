"""Limited-memory BFGS: its history at another lam, saved weights, and bounds of its last points."""

import numpy as np
import pytest
from helpers.objectives import log_optimum
from helpers.toys import chain_toy, multiclass_toy
from scipy.optimize import minimize

from sskit.core.regularizer import Regularizer
from sskit.models.likelihood.log_loss import likelihood_of
from sskit.solvers import LBFGS
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status
from sskit.solvers.quasi_newton import lbfgs

LAM = 0.05


def make(n=8):
    """A toy and the likelihood of its labels."""
    toy = chain_toy(3, n=n)
    return toy, likelihood_of(toy.problem)


def test_a_fit_goes_on_at_another_lam_and_from_saved_weights():
    toy, problem = make()
    fit = begin(LBFGS().resolved(problem), problem, Regularizer(LAM, problem.n_weights))
    assert fit.reach(1e-8) is Status.CONVERGED
    point, n_iter, history = fit.save(), fit.n_iter, fit.run.history
    changes = [change.copy() for change in history.past[1::2]]
    fit.change_lam(LAM / 3)
    # the last steps are kept, with the changes of the gradient at the new lam
    assert len(changes) == 12 and len(history.past) == 24
    for before, moved, change in zip(changes, history.past[::2], history.past[1::2], strict=True):
        np.testing.assert_allclose(change, before - LAM * 2 / 3 * moved, atol=1e-16)
    products = [[a @ b for b in history.past] for a in history.past]
    np.testing.assert_allclose(history.gram, products, rtol=1e-9, atol=1e-24)
    gradient = fit.run.gradient[: problem.n_weights]
    np.testing.assert_allclose(history.slopes, [a @ gradient for a in history.past], rtol=1e-9)
    assert fit.reach(1e-8) is Status.CONVERGED
    assert fit.certificate.primal == pytest.approx(log_optimum(toy, LAM / 3), abs=1e-7)
    anew = LBFGS().solve(problem, Regularizer(LAM / 3, problem.n_weights), tol=1e-8)
    assert fit.n_iter - n_iter < anew.n_iter
    solver, regularizer = LBFGS(), Regularizer(LAM, problem.n_weights)
    again = solver.solve(problem, regularizer, tol=1e-8, start=point)
    assert again.n_iter == 0 < n_iter and again.gap <= 1e-8 * again.primal
    with pytest.raises(ValueError, match="saved weights are none of this problem"):
        other = likelihood_of(multiclass_toy(3, n=8).problem)
        point.restore(begin(solver.resolved(other), other, Regularizer(1.0, 12)).run)


def best_mix_by_scipy(values, vectors, scale):
    """The largest bound of a mix of points, with their vectors written out."""
    squares = np.square(vectors).sum(axis=1)

    def negative(a):
        mean = a @ vectors
        return -(a @ values + 0.5 * scale * (a @ squares - mean @ mean))

    n = len(values)
    total = {"type": "eq", "fun": lambda a: a.sum() - 1.0}
    options = {"bounds": [(0, 1)] * n, "constraints": total, "options": {"ftol": 1e-13}}
    return -min(minimize(negative, start, **options).fun for start in (np.ones(n) / n, *np.eye(n)))


def test_the_certificate_is_the_best_mix_of_the_last_points(monkeypatch):
    _, problem = make(n=12)
    regularizer, n, points = Regularizer(LAM, problem.n_weights), problem.n_weights, []
    regularizer.set_prior(np.random.default_rng(5).normal(size=n))
    accept = lbfgs.LBFGSRun.accept

    def recorded(run, primal):
        # quadratic functions of curvature lam below P, by their centres and least values
        g = run.gradient[:n]
        points.append((run.w[:n] - g / LAM, primal - g @ g / (2 * LAM)))
        accept(run, primal)
        last = points[-5:]  # those at the ends of four steps
        centres, values = np.array([v for v, _ in last]), np.array([b for _, b in last])
        expected = best_mix_by_scipy(values, centres - centres[-1], LAM)
        assert run.history.best_bound(LAM) == pytest.approx(expected, abs=1e-7)
        gains.append(run.history.best_bound(LAM) - values.max())

    gains = []
    monkeypatch.setattr(lbfgs.LBFGSRun, "accept", recorded)
    solution = LBFGS(memory=4).solve(problem, regularizer, tol=1e-6)
    assert solution.certified and len(points) > 10 and max(gains) > 1e-3


def test_steps_that_are_too_long_are_halved_at_least():
    # of features so large that the first steps overshoot, and the direction is made anew
    _, problem = make()
    regularizer = Regularizer(1e-9, problem.n_weights)
    solution = LBFGS(memory=2).solve(problem, regularizer, tol=1e-3, max_iter=4000)
    assert np.isfinite(solution.primal) and (np.diff(solution.history["primal"]) <= 1e-13).all()
