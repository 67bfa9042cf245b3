"""Paths: every lam is served within eps, against quadratic programs; algorithms 6 and 7."""

from copy import copy

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.draws import BOTH
from helpers.objectives import log_losses, log_optimum, log_primal
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.solvers import SOLVERS
from helpers.structures import Numbers, bind
from helpers.toys import TOYS, bind_rows
from sskit_probes.unreliable import BoundingProblem

from sskit.core.regularizer import Regularizer
from sskit.models.likelihood.log_loss import likelihood_of
from sskit.solvers import BCFW, LBFGS
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status
from sskit.solvers.path import tracer as tracer_module
from sskit.solvers.path.tracer import (
    LikelihoodTracer,
    PathTracer,
    dual_objective_at,
    largest_fraction,
)

EPS = 0.1
SOLVERS = SOLVERS | {"projection": BCFW(steps="projection")}
BOXES = {"free": None, "around zero": (-0.4, 0.3), "positive": (0.0, np.inf)}
BOXES["off zero"] = 0.05, 0.6


def toy_of(name, weighted=False, seed=71, **options):
    weights = np.random.default_rng(3).uniform(0.2, 3.0, size=6) if weighted else None
    return TOYS[name](seed, n=6, weights=weights, **options)


def box_of(toy, kind):
    """Bounds of half of the weights."""
    if BOXES[kind] is None:
        return None
    lower, upper = (np.full(toy.pairs.d, bound) for bound in BOXES[kind])
    lower[::2], upper[::2] = -np.inf, np.inf
    return lower, upper


def tracer(toy, solver="pairwise", box=None, prior=None, kappa=0.9, eps=EPS, **options):
    solver, regularizer = SOLVERS[solver], toy.regularizer(1.0, box)
    if prior is not None:
        regularizer.set_prior(toy.unflat(prior))
    solver = solver.resolved(toy.problem, box is not None)
    run = begin(solver, toy.problem, regularizer, random_state=0)
    return PathTracer(run, eps=eps, kappa=kappa, **{"max_iter": 20_000, **options})


def check_pieces(path, lam_min):
    """Follow a path; its pieces join from the first lam to the least. Return them."""
    pieces = list(path)
    assert path.status is Status.CONVERGED
    assert [p.lam_end for p in pieces[:-1]] == [p.lam for p in pieces[1:]]
    assert pieces[-1].lam_end <= lam_min < pieces[-1].lam
    return pieces


def bounds_at(toy, piece, lam, box, conjugate=None):
    """What a piece says of one of its lam: its objective there, and the least that there is."""
    space = toy.regularizer(1.0, box)
    conjugate = conjugate or (lambda factor: -space.dual(factor * piece.v, 0.0))
    primal = 0.5 * lam * piece.sqnorm + piece.hinge
    return primal, dual_objective_at(lam, piece.lam, piece.loss, conjugate)


def allowed(path, piece, lam):
    """The largest gap that a piece may have at one of its lam."""
    return EPS * (0.5 * lam * piece.sqnorm + piece.hinge + 1e-3 * path.fit.unit)


def shrunk_only(regularizer, loss, excess, eps):
    """What `reach` returns by equation 13 alone."""
    w, v = regularizer.coef(), np.asarray(regularizer.v)[: regularizer.n_weights]
    growth = loss - regularizer.lam * float(v @ w) + 0.5 * eps * regularizer.lam * float(w @ w)
    return (0.0 if growth <= excess else 1.0 - excess * (1.0 - 1e-9) / growth), False


def check_path(toy, solver, kind, prior, exact=True):
    """Follow a path of w - prior, against quadratic programs; return it and its pieces.

    Where the oracle misses something, gaps are those of upper bounds of the objective.
    """
    box, pairs = box_of(toy, kind), copy(toy.pairs)
    pairs.loss = [loss - psi @ prior for psi, loss in zip(pairs.psi, pairs.loss, strict=True)]
    around = None if box is None else tuple(bound - prior for bound in box)
    path = tracer(toy, solver, box, prior, lam_min=2e-3)
    origin, pieces, unit = toy.flat(path.origin), check_pieces(path, 2e-3), path.fit.unit
    np.testing.assert_allclose(origin, prior if box is None else np.clip(prior, *box))
    most = largest_fraction(EPS, pieces, path.origin_gap, unit)
    assert most == EPS or not exact
    for field in ("n_iter", "n_oracle_calls", "time"):
        assert (np.diff([getattr(piece, field) for piece in pieces]) >= 0).all()
    rng = np.random.default_rng(0)
    for piece in pieces if exact else ():
        assert piece.gap <= 0.9 * allowed(path, piece, piece.lam) + 1e-12
    for piece in pieces[:: len(pieces) // 4 + 1]:
        lowest = max(piece.lam_end, 1e-3 * piece.lam, 1e-4)
        inside = np.exp(rng.uniform(np.log(lowest), np.log(piece.lam)))
        for lam in (piece.lam, inside, lowest):
            _, optimum = solve_primal(pairs, lam, around)
            primal, dual = bounds_at(toy, piece, lam, around)
            value, known = pairs.primal(toy.flat(piece.w) - prior, lam), piece.known_primal(lam)
            assert primal - piece.inexactness - 1e-10 <= value <= primal + 1e-10
            assert dual <= optimum + 1e-7
            assert primal - dual <= most * (primal + 1e-3 * unit) * (1 + 1e-9) + 1e-12
            assert known - dual <= EPS * (known + 1e-3 * unit) * (1 + 1e-9) + 1e-12
        primal, dual = bounds_at(toy, piece, piece.lam, around)
        assert primal - dual == pytest.approx(piece.gap, abs=1e-12)
        if exact and piece.lam_end > 0.0:  # as far as the better bound allows
            primal, dual = bounds_at(toy, piece, piece.lam_end, around)
            assert primal - dual >= allowed(path, piece, piece.lam_end) * (1 - 1e-6)
    first = pieces[0]
    for fraction in (0.9, 0.5, 1 / 30, 1e-3):
        lam, w = first.lam / fraction, origin + fraction * (toy.flat(first.w) - origin)
        assert box is None or ((w >= box[0] - 1e-12) & (w <= box[1] + 1e-12)).all()
        dual = bounds_at(toy, first, lam, around)[1]
        assert dual <= solve_primal(pairs, lam, around)[1] + 1e-7
        gap = fraction * first.gap + (1 - fraction) * path.origin_gap
        assert pairs.primal(w - prior, lam) - dual <= gap + 1e-10
        assert gap <= most * (dual + gap + 1e-3 * unit) * (1 + 1e-9)
    return path, pieces


@every_pair(name=TOYS, kind=BOXES, solver=["pairwise", "plain", "cache", "fw"], with_prior=BOTH)
def test_every_lam_is_served(name, kind, solver, with_prior):
    if (name, solver) == ("multiclass", "pairwise"):
        solver = "projection"  # which only blocks of one state have
    toy = toy_of(name, weighted=with_prior or kind in ("free", "positive"))
    prior = with_prior * np.random.default_rng(9).normal(scale=0.3, size=toy.pairs.d)
    check_path(toy, solver, kind, prior)


def test_start_is_algorithm_6():
    toy = toy_of("chain")
    path = tracer(toy, kappa=0.5)
    first = next(iter(path))
    pairs = toy.pairs
    psi = pairs.c @ [psi[loss.argmax()] for psi, loss in zip(pairs.psi, pairs.loss, strict=True)]
    theta = [max(-(plane @ psi)) for plane in pairs.psi]
    # the gap is at most bound / lam, the dual objective there P(0) - <psi, psi> / (2 lam)
    bound = psi @ psi + pairs.c @ theta
    lam = (bound / (0.5 * EPS) + 0.5 * psi @ psi) / path.fit.unit
    assert first.lam == pytest.approx(lam, rel=1e-12)
    np.testing.assert_allclose(toy.flat(first.w), psi / lam, atol=1e-14)
    assert 0 < first.gap <= 0.5 * EPS * first.primal(lam) + 1e-12
    assert first.n_support_planes == 6
    # P(0), the vertices, theta, and the gap at lam_1
    assert first.n_oracle_calls == 4 * 6


@pytest.mark.parametrize(("name", "kind"), in_turn(TOYS, ["free", "around zero"]))
def test_induction_is_proposition_1(name, kind, monkeypatch):
    monkeypatch.setattr(tracer_module, "reach", shrunk_only)
    toy = toy_of(name, weighted=True)
    path = tracer(toy, box=box_of(toy, kind), max_breakpoints=20)
    run = path.fit
    for piece in path:
        loss = float(toy.pairs.c @ run.run.dual.losses())
        v = np.asarray(run.run.regularizer.v)[: toy.pairs.d]
        delta = loss - piece.lam * float(v @ piece.w)
        excess = allowed(path, piece, piece.lam) - piece.gap
        rho = 1.0 - excess / (delta + 0.5 * EPS * piece.lam * piece.sqnorm)
        largest = allowed(path, piece, piece.lam_end)
        assert piece.lam_end == pytest.approx(rho * piece.lam, rel=1e-6)
        # the gaps that follow from it, block by block, are those of an exact pass
        before = run.save()
        path.continue_at_end(piece)
        np.testing.assert_allclose(run.run.regularizer.coef(), piece.w, rtol=0, atol=1e-14)
        gaps = run.run.gaps.copy()
        assert gaps.sum() == pytest.approx(largest, rel=1e-6)
        assert run.certify().gap == pytest.approx(largest, rel=1e-6)
        np.testing.assert_allclose(run.run.gaps, gaps, atol=1e-12)
        run.run.regularizer.rescale(piece.lam)
        before.restore(run.run)


@pytest.mark.parametrize("kind", BOXES)
def test_long_steps_prove_as_much(kind, monkeypatch):
    toy = toy_of("chain")
    box = box_of(toy, kind)
    long = list(tracer(toy, box=box, lam_min=1e-2))
    monkeypatch.setattr(tracer_module, "reach", shrunk_only)
    short = list(tracer(toy, box=box, lam_min=1e-2))
    assert len(long) < 0.6 * len(short)
    assert long[-1].n_oracle_calls < short[-1].n_oracle_calls


def likelihood_tracer(toy, box=None, prior=None, **options):
    problem, regularizer = likelihood_of(toy.problem), toy.regularizer(1.0, box)
    if prior is not None:
        regularizer.set_prior(toy.unflat(prior))
    run = begin(LBFGS().resolved(problem), problem, regularizer)
    return LikelihoodTracer(run, **{"eps": EPS, "kappa": 0.9, "max_iter": 3000} | options)


@pytest.mark.parametrize("trace", [tracer, likelihood_tracer])
def test_ends_of_paths(trace):
    toy = TOYS["multiclass"](5, n=4, n_states=2, p=6)  # separable: one model serves all smaller lam
    path = trace(toy)
    *others, last = path
    assert last.lam_end == 0.0 and last.hinge <= allowed(path, last, 0.0)
    if trace is tracer:
        primal, dual = bounds_at(toy, last, 1e-9 * last.lam, None)
        assert primal - dual == pytest.approx(last.hinge, rel=1e-6)
        assert all(piece.hinge > allowed(path, piece, 0.0) for piece in others)
    # all features are zero: w = 0 is the optimum for all lam
    (piece,) = trace(bind_rows(np.zeros((3, 2)), [0, 1, 2], 3, intercept=False))
    assert (piece.lam_end, piece.gap) == (0.0, 0.0) and not piece.w.any()
    for n in (1, 4):
        pieces = list(trace(toy_of("chain"), max_breakpoints=n))
        assert len(pieces) == n and 0 < pieces[-1].lam_end < pieces[-1].lam
    whole = list(trace(toy_of("chain"), lam_min=1e-3))
    part = list(trace(toy_of("chain"), lam_min=1.01 * whole[3].lam))
    assert [piece.lam for piece in part] == [piece.lam for piece in whole[:3]]
    # a solver that gets no further: what was served before is
    path = trace(toy_of("chain"), eps=1e-6, max_iter=2)
    pieces = list(path)
    assert pieces and path.status is Status.MAX_ITER
    assert all(piece.gap < path.largest.gap_at(piece.primal(piece.lam)) for piece in pieces)


def test_an_inexact_oracle_without_bounds_has_a_path():
    problem = bind(Numbers(), [None] * 3, [1, 2, 3], exact=False)
    solver = BCFW(averaging=False).resolved(problem)
    run = begin(solver, problem, Regularizer(1.0, 2), random_state=0)
    pieces = list(PathTracer(run, eps=0.1, kappa=0.7, lam_min=1e-2, max_iter=50))
    assert pieces and (np.diff([piece.lam for piece in pieces]) < 0).all()


# ---- oracles that bound what they miss -------------------------------------------------------


@every_pair(name=["chain", "multiclass"], extra=[0.0, 0.02], kind=BOXES)
def test_gaps_count_what_the_oracle_may_have_missed(name, extra, kind):
    exact = toy_of(name, weighted=True)
    toy = exact.bound_to(BoundingProblem(exact.problem, extra=extra, fraction=0.3))
    path, pieces = check_path(toy, "pairwise", kind, np.zeros(toy.pairs.d), exact=False)
    assert largest_fraction(EPS, pieces, path.origin_gap, path.fit.unit) > EPS or not extra
    assert path.origin_gap == pytest.approx(extra * toy.pairs.c[np.arange(6) % 3 > 0].sum())


# ---- likelihoods -----------------------------------------------------------------------------


def half_of(square):
    """The conjugate of ||w||^2 / 2 at multiples of a vector with this squared norm."""
    return lambda factor: 0.5 * factor**2 * square


@pytest.mark.parametrize("name", ["chain", "multiclass"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_lam_of_a_likelihood_is_served(name, weighted):
    toy = toy_of(name, weighted=weighted)
    path = likelihood_tracer(toy, lam_min=2e-3)
    pieces = check_pieces(path, 2e-3)
    assert not pieces[0].w.any() and path.origin_gap == 0.0
    for piece in pieces[:: len(pieces) // 3 + 1]:
        w, conjugate = toy.flat(piece.w), half_of(piece.dual_sqnorm)
        losses, slope = log_losses(toy.pairs, w)
        assert piece.hinge == pytest.approx(float(toy.pairs.c @ losses), abs=1e-12)
        assert piece.lam**2 * piece.dual_sqnorm == pytest.approx(slope @ slope, rel=1e-9)
        for lam in np.geomspace(piece.lam, max(piece.lam_end, 1e-4), 3):
            primal, dual = bounds_at(toy, piece, lam, None, conjugate)
            # of the dual variables that stay: ||gradient||^2 / (2 lam)
            gradient = lam * w + slope
            assert primal - dual <= gradient @ gradient / (2 * lam) + 1e-12
            assert primal - dual <= allowed(path, piece, lam) * (1 + 1e-9) + 1e-12
            assert dual - 1e-9 <= log_optimum(toy, lam) <= primal + 1e-9
        primal, dual = bounds_at(toy, piece, piece.lam, None, conjugate)
        assert primal - dual == pytest.approx(piece.gap, abs=1e-12)
    # the first model serves all larger lam
    primal, dual = bounds_at(
        toy, pieces[0], 5 * pieces[0].lam, None, half_of(pieces[0].dual_sqnorm)
    )
    assert primal - dual == pytest.approx(pieces[0].gap / 5, rel=1e-9)


@every_pair(
    name=["chain", "multiclass", "segments"], kind=list(BOXES)[1:], weighted=BOTH, with_prior=BOTH
)
def test_every_lam_of_a_likelihood_is_served_within_bounds(name, kind, weighted, with_prior):
    toy = toy_of(name, weighted=weighted)
    box = box_of(toy, kind)
    prior = with_prior * np.random.default_rng(9).normal(scale=0.3, size=toy.pairs.d)
    path = likelihood_tracer(toy, box, prior, lam_min=2e-3)
    pieces, around = check_pieces(path, 2e-3), tuple(bound - prior for bound in box)
    origin, pairs = np.clip(prior, *box), list(zip(*box, strict=True))
    np.testing.assert_array_equal(toy.flat(path.origin), origin)
    np.testing.assert_array_equal(toy.flat(pieces[0].w), origin)
    for piece in pieces[:: len(pieces) // 3 + 1]:
        w = toy.flat(piece.w)
        assert ((box[0] <= w) & (w <= box[1])).all()
        losses, slope = log_losses(toy.pairs, w)
        assert piece.hinge == pytest.approx(float(toy.pairs.c @ losses), abs=1e-12)
        np.testing.assert_allclose(toy.flat(piece.v), -slope / piece.lam, rtol=1e-9, atol=1e-12)
        for lam in np.geomspace(piece.lam, max(piece.lam_end, 1e-4), 3):
            primal, dual = bounds_at(toy, piece, lam, around)
            assert primal - dual <= allowed(path, piece, lam) * (1 + 1e-9) + 1e-12
            assert dual - 1e-9 <= log_optimum(toy, lam, prior, pairs) <= primal + 1e-9
        primal, dual = bounds_at(toy, piece, piece.lam, around)
        assert primal - dual == pytest.approx(piece.gap, abs=1e-12)
        if piece.lam_end > 0.0:
            primal, dual = bounds_at(toy, piece, piece.lam_end, around)
            assert primal - dual >= allowed(path, piece, piece.lam_end) * (1 - 1e-6)
    # the first model serves all larger lam, with a gap that falls as 1 / lam at least
    for factor in (5, 100):
        lam = factor * pieces[0].lam
        primal = log_primal(toy, origin, lam, prior)[0]
        assert primal - log_optimum(toy, lam, prior, pairs) <= pieces[0].gap / factor + 1e-9
