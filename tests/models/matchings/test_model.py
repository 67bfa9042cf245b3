"""The matching model: contract, oracle, planes and losses against enumeration, fingerprints."""

import numpy as np
import pytest
from helpers.matchings import enumerate_matchings, random_matchings
from helpers.qp import solve_primal

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.models.matchings.model import PairingModel
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, MultiPlane
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem

SIZES = [(2, 3), (0, 2), (3, 0), (3, 2), (1, 1), (0, 0)]


def bound(tables, truths, loss="hamming", complete=False, weights=None):
    model = PairingModel(tuple(array.shape[-1] for array in tables[0]), complete)
    c = block_weights(len(tables), weights)
    return model, model.bind(tables, truths, loss, c), c


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("widths", [(1, 0, 0), (3, 2, 1), (9, 0, 4)])
def test_contract(widths, complete):
    rng = np.random.default_rng(sum(widths))
    sizes = None if complete else SIZES
    data = random_matchings(rng, 8, *widths, sizes=sizes, complete=complete)
    problem = bound(*data, complete=complete)[1]
    assert problem.exact and problem.costly and not problem.lock_free
    check_problem(problem, 0)


@pytest.mark.parametrize("loss", ["hamming", "hamming_sum"])
@pytest.mark.parametrize("complete", [False, True])
def test_oracle_and_planes_equal_enumeration(loss, complete):
    rng = np.random.default_rng(5)
    for _ in range(5):
        sizes = None if complete else SIZES
        tables, truths = random_matchings(rng, 6, 3, 2, 1, sizes=sizes, complete=complete)
        _, problem, c = bound(tables, truths, loss, complete)
        pairs = enumerate_matchings(tables, truths, c, mean=loss == "hamming", complete=complete)
        probe, w = ProblemProbe(problem), rng.normal(size=problem.n_weights)
        for i in range(len(tables)):
            theta = probe.scores(i, w)
            np.testing.assert_array_equal(theta, w)
            for weight in (0.0, 0.3, 1.0):
                code, found_loss = probe.argmax(i, theta, weight)
                values = weight * pairs.loss[i] - pairs.psi[i] @ w
                found = weight * found_loss - probe.plane(i, code) @ w
                assert found == pytest.approx(values.max(), abs=1e-10)
                partners = code[: len(tables[i][0])]
                place = next(
                    k for k, y in enumerate(pairs.labels[i]) if np.array_equal(y, partners)
                )
                assert found_loss == pytest.approx(pairs.loss[i][place])
                np.testing.assert_allclose(probe.plane(i, code), pairs.psi[i][place], atol=1e-12)


@pytest.mark.parametrize("solver", [BCFW(), BCFW(steps="fw"), MultiPlane(), FrankWolfe(),
                                    CuttingPlane()])  # fmt: skip
def test_certificates_bracket_the_optimum_of_the_quadratic_program(solver):
    tables, truths = random_matchings(np.random.default_rng(6), 4, sizes=[(2, 3), (3, 2)])
    _, problem, c = bound(tables, truths, weights=[1.0, 2.0, 0.5, 1.0])
    pairs = enumerate_matchings(tables, truths, c)
    _, optimum = solve_primal(pairs, 0.2)
    solution = solver.solve(
        problem, Regularizer(0.2, problem.n_weights), tol=1e-3, max_iter=2000, random_state=0
    )
    assert solution.certified
    assert solution.primal == pytest.approx(pairs.primal(solution.w, 0.2), abs=1e-10)
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_decoder_gives_matchings_and_gains(n_jobs):
    rng = np.random.default_rng(7)
    tables, truths = random_matchings(rng, 6, 3, 2, 1, sizes=SIZES)
    model, _, c = bound(tables, truths)
    w = rng.normal(size=model.layout.n_weights)
    pairs = enumerate_matchings(tables, truths, c)
    decoder = model.decoder(tables, w, n_jobs)
    for i, (partners, gains) in enumerate(zip(decoder.best(), decoder.gains(), strict=True)):
        assert gains.shape == tables[i][0].shape[:2]
        chosen = np.flatnonzero(partners >= 0)
        # the best matching is the one of least <psi, w>; each of its pairs gains
        place = next(k for k, y in enumerate(pairs.labels[i]) if np.array_equal(y, partners))
        assert (pairs.psi[i] @ w)[place] == pytest.approx((pairs.psi[i] @ w).min(), abs=1e-12)
        assert (gains[chosen, partners[chosen]] >= 0).all()
        alone = next(k for k, y in enumerate(pairs.labels[i]) if (y == -1).all())
        better = (pairs.psi[i][alone] - pairs.psi[i][place]) @ w
        assert gains[chosen, partners[chosen]].sum() == pytest.approx(better, abs=1e-12)


def test_codes_that_are_none():
    rng = np.random.default_rng(8)
    tables, _ = random_matchings(rng, 2, sizes=[(2, 3), (0, 1)])
    truths = [np.array([0, 1]), np.zeros(0, dtype=int)]
    for complete in (False, True):
        probe = ProblemProbe(bound(tables, truths, complete=complete)[1])
        for i, code, right in [
            (0, [2, 0], True),
            (1, [-1], True),
            (1, [0], False),
            (0, [-1, -1], not complete),
            (0, [2, 2], False),
            (0, [3, 0], False),
            (0, [-2, 0], False),
        ]:
            if right:
                probe.plane(i, np.array(code, dtype=np.int32))
                continue
            with pytest.raises(ValueError, match="code"):
                probe.plane(i, np.array(code, dtype=np.int32))


def test_scores_that_overflow_are_found_later():
    tables, truths = random_matchings(np.random.default_rng(9), 1, sizes=[(3, 3)])
    probe = ProblemProbe(bound(tables, truths)[1])
    for size in (1e308, np.inf, np.nan):
        code, _ = probe.argmax(0, np.full(6, size), 1.0)
        probe.plane(0, code)


def test_fingerprints_tell_what_changed():
    tables, truths = random_matchings(np.random.default_rng(10), 3, sizes=[(2, 3)])
    first = bound(tables, truths)[1].fingerprint()
    assert bound(tables, truths)[1].fingerprint().difference(first) is None
    told = bound(tables, truths, "hamming_sum")[1].fingerprint().difference(first)
    assert told == "loss changed from hamming to hamming_sum"
    other = [*truths[:1], truths[1][::-1].copy(), *truths[2:]]
    assert bound(tables, other)[1].fingerprint().difference(first) == "y[1] changed"
    other = [*tables[:2], tuple(array + 1 for array in tables[2])]
    assert bound(other, truths)[1].fingerprint().difference(first) == "X[2] changed"
