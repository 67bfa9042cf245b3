"""Runs that go on: saved and restored, at another lam, with more data, with other weights."""

import pickle

import numpy as np
import pytest
from helpers.pairwise import every_pair
from helpers.solvers import DUAL, LAST, SOLVERS
from helpers.toys import TOYS, rebind

from sskit.core.problem import block_weights
from sskit.solvers.common import fit as fit_module
from sskit.solvers.common.solution import Status
from sskit.testing.probe import ProblemProbe

LAM = 0.2
NAMES = ["chain", "multiclass"]
BOXES = {False: None, True: (-0.15, 0.2)}


def toy_of(name, n, weights=None):
    """The first n of nine samples."""
    toy = TOYS[name](61, n=9)
    truths = [ProblemProbe(toy.problem).truth(i) for i in range(n)]
    return rebind(name, toy.X[:n], truths, 3, weights=weights)


def box_of(toy, bounded):
    return tuple(np.full(toy.pairs.d, bound) for bound in BOXES[bounded]) if bounded else None


def begin(solver, toy, lam=LAM, bounded=False, **options):
    regularizer = toy.regularizer(lam, box_of(toy, bounded))
    solver = SOLVERS[solver].resolved(toy.problem, bounded)
    return fit_module.begin(solver, toy.problem, regularizer, random_state=0, **options)


@every_pair(name=NAMES, solver=DUAL, bounded=BOXES)
def test_what_is_restored_is_what_was_saved(name, solver, bounded):
    toy = toy_of(name, 7)
    first = begin(solver, toy, bounded=bounded)
    assert first.reach(0.05, max_iter=2000) is Status.CONVERGED
    point = pickle.loads(pickle.dumps(first.save()))
    again = begin(solver, toy, bounded=bounded, start=point)
    for key in ("primal", "dual", "gap", "w"):
        before, after = getattr(first.certificate, key), getattr(again.certificate, key)
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)
    assert again.unit == first.unit
    # the exact pass, for the last iterate and for the average, is all that it takes
    assert again.reach(0.05) is Status.CONVERGED
    assert (again.n_iter, again.n_oracle_calls) == (0, 7 if solver in LAST else 14)
    # and the other solvers go on from there too
    w = first.run.regularizer.coef()
    for other in ("plain, averaging", "pairwise, batches", "mpbcfw", "fw"):
        moved = begin(other, toy, bounded=bounded, start=point)
        np.testing.assert_allclose(moved.run.regularizer.coef(), w, rtol=0, atol=1e-12)
        dual = toy.dual(moved.run.dual, LAM, BOXES[bounded])
        moved.reach(0.02, max_iter=300)
        assert moved.certificate.dual >= dual - 1e-12


def test_a_block_that_weighs_more_adds_what_it_did_before():
    """Through fewer fractions of its planes; where fits go from there is in test_warm_start_law."""
    old, new = np.array([[1.0, 2.0, 0.0, 1.0, 1.0, 0.5], [1.0, 1.0, 2.0, 0.0, 3.0, 0.5]])
    point = begin("pairwise", toy_of("chain", 6, old)).save()
    fractions = point.kept_fractions(toy_of("chain", 6, new).problem.block_weight, LAM)
    ratio = block_weights(6, old) / np.maximum(block_weights(6, new), 1e-300)
    np.testing.assert_allclose(fractions, np.minimum(ratio, 1.0), rtol=1e-14)


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.9])
def test_kept_weights_have_the_same_bits(fraction):
    rng = np.random.default_rng(0)
    w = np.where(rng.random(200) < fraction, rng.normal(size=200), 0.0)
    w[:2] = -0.0, 5e-324
    kept, before = fit_module.KeptWeights.of(w), w.tobytes()
    assert (kept.places is None) == (fraction > 0.5)
    w[:] = 1.0
    assert kept.array().tobytes() == before


@pytest.mark.parametrize("solver", DUAL)
def test_weights_are_copied_unless_the_run_ends(solver):
    toy = toy_of("chain", 7)
    fit = begin(solver, toy)
    fit.reach(0.3)
    own, shared = fit.solution(Status.CONVERGED), fit.solution(Status.CONVERGED, goes_on=False)
    np.testing.assert_array_equal(own.w, shared.w)
    if fit.run.averager.average(fit.run.regularizer, 0.0) is None:
        assert np.shares_memory(shared.w, fit.run.regularizer.w)
    before = own.w.copy()
    fit.reach(1e-3)
    np.testing.assert_array_equal(own.w, before)


def test_without_gram_matrices_steps_have_the_same_norms():
    """Of short sequences, whose norms and products are computed of these."""
    problem = TOYS["chain"](61, n=9).problem
    probe, rng = ProblemProbe(problem), np.random.default_rng(0)
    deltas = []
    for i in range(9):
        code, _ = probe.argmax(i, rng.normal(size=problem.max_statistics))
        deltas.append(probe.plane(i, code))
    before = [probe.sqnorm(i, delta) for i, delta in enumerate(deltas)]
    problem.map.prepare(problem.map.make_grams(0.0))
    after = [probe.sqnorm(i, delta) for i, delta in enumerate(deltas)]
    np.testing.assert_allclose(after, before, rtol=1e-12)
