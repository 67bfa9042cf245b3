"""Limited-memory BFGS within bounds: its optimum, its certificate, and its directions."""

import numpy as np
import pytest
from helpers.draws import BOTH
from helpers.objectives import log_optimum, log_primal
from helpers.pairwise import every_pair
from helpers.toys import TOYS
from scipy.optimize import minimize, minimize_scalar

from sskit.core.regularizer import BoxRegularizer
from sskit.models.likelihood.log_loss import likelihood_of
from sskit.solvers import LBFGS
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status
from sskit.solvers.quasi_newton import lbfgs
from sskit.solvers.quasi_newton.box import BoxHistory
from sskit.solvers.quasi_newton.lbfgs import PrimalPoint

LAM = 0.05
BOXES = {
    "around zero": (-0.4, 0.3),
    "positive": (0.0, np.inf),
    "off zero": (0.05, 0.6),
    "one point": (0.1, 0.1),
    "loose": (-1e9, 1e9),
}


def box_of(kind, d):
    """Bounds of two thirds of the weights."""
    lower, upper = (np.full(d, side) for side in BOXES[kind])
    lower[::3], upper[::3] = -np.inf, np.inf
    return lower, upper


def make(name="chain", kind="around zero", lam=LAM, n=8, seed=3, weighted=False):
    """A toy of the likelihood of its labels, a regulariser with bounds, and these by the toy."""
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=n) if weighted else None
    toy = TOYS[name](seed, n=n, weights=weights)
    toy = toy.bound_to(likelihood_of(toy.problem))
    box = box_of(kind, toy.pairs.d)
    return toy, toy.regularizer(lam, box), box


def pairs_of(box):
    return list(zip(*box, strict=True))


@every_pair(
    name=["chain", "second chain", "segments", "multiclass"],
    kind=BOXES,
    with_prior=BOTH,
    weighted=BOTH,
    memory=[1, 12],
    single=BOTH,
)
def test_the_optimum_is_that_of_scipy(
    name, kind, with_prior, weighted, memory, single, monkeypatch
):
    monkeypatch.setattr(lbfgs, "MANY_WEIGHTS", 0 if single else 2**20)
    toy, regularizer, box = make(name, kind, weighted=weighted)
    prior = with_prior * np.random.default_rng(5).normal(size=toy.pairs.d)
    if with_prior:
        regularizer.set_prior(toy.unflat(prior))
    inside = []

    def on_pass(n_iter, weights):
        w = toy.flat(weights())
        inside.append(((box[0] <= w) & (w <= box[1])).all())

    solution = LBFGS(memory=memory).solve(
        toy.problem, regularizer, tol=1e-9, max_iter=3000, on_pass=on_pass
    )
    assert solution.status is Status.CONVERGED and solution.certified and all(inside)
    optimum, w = log_optimum(toy, LAM, prior, pairs_of(box)), toy.flat(solution.w)
    value, slope = log_primal(toy, w, LAM, prior)
    assert solution.primal == pytest.approx(value, abs=1e-12)
    assert solution.primal == pytest.approx(optimum, abs=2e-9 * (1 + optimum))
    assert (solution.history["dual"] <= optimum + 1e-10).all()
    assert (np.diff(solution.history["primal"]) <= 1e-13).all()
    # what is to be at a bound is there exactly, and only there is the gradient not small
    held = np.abs(slope) > 1e-3
    assert (np.where(slope > 0, w == box[0], w == box[1])[held]).all()
    assert held.any() == (kind not in ("loose",))


def test_loose_bounds_cost_no_passes():
    for seed in range(4):
        toy, loose, _ = make("chain", "loose", seed=seed, n=12)
        free = toy.regularizer(LAM)
        one, other = (LBFGS().solve(toy.problem, r, tol=1e-4) for r in (free, loose))
        assert other.primal == pytest.approx(one.primal, rel=1e-4)
        assert other.n_iter <= 1.3 * one.n_iter


def least_value(parts, weights, box):
    """The least value within bounds of a mix of P + <g, u - w> + lam / 2 ||u - w||^2."""
    total = 0.0
    linear = sum(a * (g - LAM * w) for a, (_, g, w) in zip(weights, parts, strict=True))
    for a, (primal, g, w) in zip(weights, parts, strict=True):
        total += a * (primal - g @ w + 0.5 * LAM * w @ w)
    u = np.clip(-linear / LAM, *box)
    return total + linear @ u + 0.5 * LAM * u @ u


def test_the_certificate_is_the_best_mix_of_two_functions(monkeypatch):
    toy, regularizer, _ = make(n=12)
    box, n, parts, gains = regularizer.box(), toy.problem.n_weights, [], []
    accept = lbfgs.LBFGSRun.accept

    def recorded(run, primal):
        parts.append((primal, run.gradient[:n].copy(), run.w[:n].copy()))
        _, g, w = parts[-1]

        def value(u):
            return g @ (u - w) + 0.5 * LAM * (u - w) @ (u - w), g + LAM * (u - w)

        # that of the point itself, by another program
        least = minimize(value, w, jac=True, bounds=pairs_of(box), options={"ftol": 1e-15}).fun
        assert run.history.gap(run.w, run.gradient, None, LAM) == pytest.approx(-least, abs=1e-8)
        before, constant = run.history.linear.copy(), run.history.constant
        accept(run, primal)
        own = least_value(parts[-1:], [1.0], box)
        if constant == -np.inf:
            assert run.history.best_bound(LAM) == pytest.approx(own, abs=1e-10)
            return
        # the mix so far is such a function, with its centre at -before / lam
        zero = np.zeros(n)
        mix = [(constant, before, zero), parts[-1]]
        found = minimize_scalar(
            lambda t: -least_value(mix, [1 - t, t], box), bounds=(0, 1), method="bounded",
            options={"xatol": 1e-10},
        )  # fmt: skip
        best = max(-found.fun, own, least_value(mix[:1], [1.0], box))
        bound = -run.dual_gap + run.dual_primal
        assert bound <= max(best, before_dual[-1]) + 1e-9
        assert bound >= best - 0.1 * (best - own) - 1e-9
        gains.append(best - own)

    before_dual = [-np.inf]

    def pass_after(n_iter, weights):
        before_dual.append(fit.run.dual)

    monkeypatch.setattr(lbfgs.LBFGSRun, "accept", recorded)
    fit = begin(LBFGS().resolved(toy.problem), toy.problem, regularizer)
    assert fit.reach(1e-5, on_pass=pass_after) is Status.CONVERGED
    assert len(parts) > 10 and max(gains) > 1e-3


@pytest.mark.parametrize("n", [9, 1100])  # in one piece, and in three
def test_directions_are_those_of_the_matrix_cut_to_the_free_weights(n):
    rng = np.random.default_rng(0)
    lower, upper = np.full(n, -1.0), np.full(n, 1.0)
    regularizer = BoxRegularizer(1e-3, lower, upper)
    for dtype in (np.float64, np.float32):
        history = BoxHistory(n, 3, dtype, regularizer)
        root = rng.normal(size=(n, 9))
        curvature = root @ root.T + 0.1 * np.eye(n)
        gradient = np.zeros(n)
        for _ in range(5):  # the first two are forgotten
            history.direction[:] = rng.normal(size=n)
            before, gradient = gradient, gradient + 0.5 * curvature @ history.direction
            history.add(0.5, gradient, before)
        assert len(history.past) == 6
        w, g = 0.9 * rng.uniform(-1, 1, size=n), rng.normal(size=n)
        w[:3], g[:3] = (-1.0, 1.0, 1.0), (2.0, -2.0, 1.5)  # two are held, one leaves its bound
        to = w - history.size * g
        free = (to > lower) & (to < upper)
        assert not free[:2].any() and free[2]
        # the matrix of BFGS on the free weights, by its definition
        steps = [(s[free].astype(float), y[free].astype(float))
                 for s, y in zip(history.past[::2], history.past[1::2], strict=True)]  # fmt: skip
        steps = [(s, y) for s, y in steps if s @ y > 1e-4 * s @ s]
        s, y = steps[-1]
        inverse = s @ y / (y @ y) * np.eye(free.sum())
        for s, y in steps:
            left = np.eye(free.sum()) - np.outer(s, y) / (s @ y)
            inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
        expected = -history.size * g
        expected[free] = -inverse @ g[free]
        trial = np.zeros(n)
        slope = history.find_direction(g, g @ g, w, trial)
        np.testing.assert_array_equal(history.free.astype(bool), free)
        assert slope == pytest.approx(g @ (trial - w), abs=1e-12) and slope < 0
        steps = [np.clip(w + 0.5**k * expected, lower, upper) for k in range(13)]
        distance = [np.abs(trial - some).max() for some in steps]
        assert min(distance) < (1e-9 if dtype is np.float64 else 1e-4)
        np.testing.assert_allclose(history.direction, trial - w, atol=1e-6)


def test_a_fit_goes_on_at_another_lam_and_from_weights_outside():
    toy, regularizer, box = make(n=8)
    solver = LBFGS()
    fit = begin(solver.resolved(toy.problem), toy.problem, regularizer)
    assert fit.reach(1e-8) is Status.CONVERGED
    n_iter = fit.n_iter
    fit.change_lam(LAM / 3)
    assert len(fit.run.history.past) > 2
    assert fit.reach(1e-8) is Status.CONVERGED
    optimum = log_optimum(toy, LAM / 3, bounds=pairs_of(box))
    assert fit.certificate.primal == pytest.approx(optimum, abs=1e-7)
    assert fit.certificate.dual <= optimum + 1e-10
    anew = solver.solve(toy.problem, toy.regularizer(LAM / 3, box), tol=1e-8)
    assert fit.n_iter - n_iter < anew.n_iter
    again = solver.solve(toy.problem, toy.regularizer(LAM / 3, box), tol=1e-8, start=fit.save())
    assert again.n_iter == 0 and again.certified
    far = PrimalPoint(np.full(toy.problem.n_weights, 7.0))
    outside = solver.solve(toy.problem, toy.regularizer(LAM, box), tol=1e-8, start=far)
    assert outside.primal == pytest.approx(log_optimum(toy, LAM, bounds=pairs_of(box)), abs=1e-7)
    assert (outside.history["primal"][1:] <= outside.history["primal"][0]).all()


@pytest.mark.parametrize("kind", ["around zero", "positive"])
@pytest.mark.parametrize("lam", [1e-6, 10.0])
def test_any_lam(kind, lam):
    toy, regularizer, box = make("chain", kind, lam=lam, n=12)
    solution = LBFGS().solve(toy.problem, regularizer, tol=1e-3, max_iter=3000)
    assert solution.status is Status.CONVERGED
    optimum = log_optimum(toy, lam, bounds=pairs_of(box))
    assert solution.dual <= optimum + 1e-9 and solution.primal >= optimum - 1e-9


@pytest.mark.parametrize("memory", [1, 12])
def test_a_weight_that_cannot_move_ends_at_once(memory):
    toy, _, _ = make()
    d = toy.pairs.d
    fixed = np.random.default_rng(0).normal(size=d)
    regularizer = toy.regularizer(LAM, (fixed, fixed))
    solution = LBFGS(memory=memory).solve(toy.problem, regularizer, tol=0)
    assert solution.gap == 0.0 and solution.n_iter <= 1
    np.testing.assert_array_equal(toy.flat(solution.w), fixed)
