"""Exponentiated gradient steps: dual points and steps by enumeration, and points that are saved."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.objectives import log_optimum, log_primal
from helpers.toys import chain_toy, multiclass_toy
from scipy.special import logsumexp, xlogy
from sklearn.base import clone

from sskit import SequenceTagger
from sskit.core.regularizer import Regularizer
from sskit.core.stop import Stop
from sskit.models.likelihood.log_loss import likelihood_of
from sskit.solvers import LBFGS, ExponentiatedGradient
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status

LAM = 0.05
TOYS = {"chain": chain_toy, "multiclass": multiclass_toy}


def make(name="chain", seed=3, n=8, **options):
    toy = TOYS[name](seed, n=n, **options)
    return toy, likelihood_of(toy.problem)


def start(problem, lam=LAM, prior=None, seed=0, **options):
    """A fit before its first pass."""
    regularizer = Regularizer(lam, problem.n_weights)
    if prior is not None:
        regularizer.set_prior(prior)
    solver = ExponentiatedGradient(**options).resolved(problem)
    return begin(solver, problem, regularizer, random_state=seed)


def solve(solver, problem, **options):
    regularizer = Regularizer(LAM, problem.n_weights)
    return solver.solve(problem, regularizer, random_state=0, **{"tol": 1e-5} | options)


def distributions(toy, weights):
    """Probabilities of all labellings of each block, by weights."""
    found = []
    for psi in toy.pairs.psi:
        scores = -np.asarray(psi) @ weights
        found.append(np.exp(scores - logsumexp(scores)))
    return found


def dual_by_enumeration(toy, lam, probabilities, prior=0.0):
    """D and w of distributions over the labellings."""
    c, entropy = toy.pairs.c, [-xlogy(p, p).sum() for p in probabilities]
    total = sum(c[i] * probabilities[i] @ np.asarray(psi) for i, psi in enumerate(toy.pairs.psi))
    w = prior + total / lam
    return c @ entropy + lam / 2 * np.sum(prior**2) - lam / 2 * w @ w, w


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize("with_prior", [False, True])
def test_a_dual_point_is_that_of_the_enumeration(name, with_prior):
    toy, problem = make(name)
    rng = np.random.default_rng(1)
    prior = rng.normal(size=toy.pairs.d) if with_prior else np.zeros(toy.pairs.d)
    fit = start(problem, prior=toy.unflat(prior) if with_prior else None)
    run, before = fit.run, rng.normal(size=toy.pairs.d)
    # at first all blocks are certain of their truths
    first = run.certify(None)
    assert toy.flat(first.w) == pytest.approx(prior) and first.dual == pytest.approx(0, abs=1e-12)
    assert first.primal == pytest.approx(log_primal(toy, prior, LAM, prior)[0], abs=1e-12)
    run.begin_at(toy.unflat(before))
    probabilities = distributions(toy, before)
    dual, w = dual_by_enumeration(toy, LAM, probabilities, prior)
    found = run.certify(None)
    assert toy.flat(found.w) == pytest.approx(w, abs=2e-5)
    assert found.dual == pytest.approx(dual, abs=2e-5)
    assert found.primal == pytest.approx(log_primal(toy, w, LAM, prior)[0], abs=2e-5)
    assert found.known_gap == pytest.approx(found.primal - found.dual, abs=1e-9)
    # each gap is a divergence
    scores = [-np.asarray(psi) @ toy.flat(found.w) for psi in toy.pairs.psi]
    for gap, p, score in zip(run.pool.gap, probabilities, scores, strict=True):
        assert gap == pytest.approx(logsumexp(score) - p @ score + xlogy(p, p).sum(), abs=2e-5)


def test_a_fit_goes_on_at_another_lam_and_from_a_saved_point():
    toy, problem = make()
    fit = start(problem)
    assert fit.reach(1e-6) is Status.CONVERGED
    point, n_iter = fit.save(), fit.n_iter
    fit.change_lam(LAM / 3)
    assert fit.reach(1e-6) is Status.CONVERGED
    assert fit.certificate.primal == pytest.approx(log_optimum(toy, LAM / 3), rel=1e-6)
    again = solve(ExponentiatedGradient(), problem, start=point)
    assert again.n_iter == 0 < n_iter and again.gap <= 1e-5 * again.primal
    # weights alone are a beginning, too, either way
    for one, other in ((LBFGS(), ExponentiatedGradient()), (ExponentiatedGradient(), LBFGS())):
        first = solve(one, problem, tol=1e-9, max_iter=3000)
        second = solve(other, problem, tol=1e-4, start=first.fit.save())
        assert second.n_iter == 0 and second.primal == pytest.approx(first.primal, rel=1e-4)
    other = make("multiclass")[1]
    with pytest.raises(ValueError, match="saved weights are none of this problem"):
        point.restore(start(other).run)
    # of blocks with other lengths
    with pytest.raises(ValueError, match="saved dual point is none of this problem"):
        point.restore(start(make(lengths=(2, 1))[1]).run)
    # further blocks begin at their truths
    longer = start(make(n=9)[1]).run
    assert longer.problem.n_blocks == 9
    point.restore(longer)
    assert list(longer.pool.visited) == [1] * 8 + [0]
    assert longer.certify(None).dual <= log_optimum(make(n=9)[0], LAM)


def test_memory_that_it_may_not_take():
    _, problem = make()
    assert problem.dual_bytes() == 8 * (len(problem.log_dual(Stop()).u) - 1)
    with pytest.raises(ValueError, match=r"needs 0 MB .* max_memory=0.0001; raise that or use LB"):
        solve(ExponentiatedGradient(max_memory=1e-4), problem)


def test_forbidden_transitions_and_blocks_without_weight():
    allowed = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    weights = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0, 3.0])
    toy, problem = make(allowed=allowed, weights=weights)
    fit = start(problem)
    solution = fit.solution(fit.reach(1e-6, max_iter=3000))
    assert solution.status is Status.CONVERGED
    assert solution.primal == pytest.approx(log_optimum(toy, LAM), rel=2e-6)
    assert solution.primal == pytest.approx(log_primal(toy, toy.flat(solution.w), LAM)[0])
    assert list(fit.run.pool.visited) == [1, 0, 1, 1, 0, 1, 1, 1]
    # saved and restored, with potentials of -inf
    again = start(problem)
    fit.save().restore(again.run)
    np.testing.assert_allclose(again.run.weights(), fit.run.weights(), atol=1e-6)


@pytest.mark.parametrize("bounds", [None, (-0.3, 0.3)])
def test_steps_of_long_sparse_sequences_are_those_of_dense_ones(bounds):
    """Sequences without a Gram matrix, whose images are made of their own features."""
    rng = np.random.default_rng(0)
    y = [rng.integers(4, size=n) for n in rng.integers(20, 60, size=20)]
    X = [rng.integers(-1, 2, size=(len(t), 7)) + (t[:, None] == np.arange(7)) for t in y]
    dense = [x.astype(np.float16) for x in X]  # which stay dense
    sparse = [sp.csr_array(x.astype(np.float32)) for x in X]
    tagger = SequenceTagger(
        lam=0.05, surrogate="log", solver="exponentiated_gradient", bounds=bounds, random_state=0
    )
    fits = [clone(tagger).set_params(tol=1e-3).fit(data, y) for data in (dense, sparse)]
    assert fits[0].n_iter_ == fits[1].n_iter_ > 3
    np.testing.assert_allclose(fits[1].coef_, fits[0].coef_, atol=1e-9)
    assert (np.diff(fits[1].history_["dual"]) > 0).all()
