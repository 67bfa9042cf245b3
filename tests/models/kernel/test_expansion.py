"""Values of functions that follow their coefficients."""

import numpy as np
import pytest
from helpers.interruption import PressedStop
from helpers.kernels import in_kernel_space, truths
from helpers.pairwise import every_pair
from helpers.toys import chain_toy, multiclass_toy

import sskit.models.kernel.space
from sskit.core.regularizer import Regularizer
from sskit.core.stop import CutShort
from sskit.models.kernel.functions import Kernel
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, MultiPlane
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status
from sskit.solvers.oracle_calls.pool import make_pool

TOYS = {"chain": chain_toy, "multiclass": multiclass_toy}
RBF = Kernel("rbf", gamma=0.3)
SOLVERS = {
    "pairwise": BCFW(),
    "gap": BCFW(sampling="gap"),
    "plain": BCFW(steps="fw"),
    "mpbcfw": MultiPlane(),
    "fw": FrankWolfe(),
    "cuts": CuttingPlane(),
}


@pytest.fixture(autouse=True)
def blocks_of_three_rows(monkeypatch):
    """As with many rows: none is computed before it is needed."""
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 100)


def started(name, solver, *, n=12, n_bytes=1e9):
    """A run after some passes, its problem and the true kernel matrix."""
    toy = TOYS[name](4, n=n)
    problem, layout = in_kernel_space(name, toy, RBF, n_bytes=n_bytes)
    regularizer = Regularizer(0.05, problem.n_weights, problem.space.covector)
    work = begin(solver, problem, regularizer, random_state=0)
    work.reach(0.0, max_iter=5)
    X = np.concatenate([np.atleast_2d(x) for x in toy.X])
    return work, layout, RBF(X, X)


def parts(work, layout):
    """Views of the values and of the coefficients."""
    blocks = layout.split(np.asarray(work.run.regularizer.v)[: work.run.regularizer.n_weights])
    return blocks["values"], blocks["dual_coef"]


@every_pair(name=TOYS, solver=SOLVERS, n_bytes=[1e9, 1000])
def test_values_are_those_of_the_coefficients(name, solver, n_bytes):
    work, layout, K = started(name, SOLVERS[solver], n_bytes=n_bytes)
    values, coefficients = parts(work, layout)
    precision = 1e-12 if n_bytes == 1e9 else 1e-6
    np.testing.assert_allclose(values, coefficients @ K, atol=precision * np.abs(values).max())
    certificate = work.certify()
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual, abs=1e-7)


def test_hints_drive_out_no_row_that_is_needed():
    """Batches whose blocks have more rows than there is room for, each with some rows there."""
    toy = chain_toy(0, n=8, lengths=(3, 3, 1))
    X = np.concatenate(toy.X)
    problem, layout = in_kernel_space("chain", toy, RBF, n_bytes=5 * 4 * len(X))
    assert problem.space.rows.n_slots == 5
    regularizer = Regularizer(0.1, problem.n_weights, problem.space.covector)
    solver = BCFW(batch_size=4, steps="fw", sampling="uniform")
    run = solver.start(problem, regularizer, np.random.RandomState(0))
    for _ in range(40):
        run.run_pass()
    blocks = layout.split(regularizer.coef())
    values = blocks["dual_coef"] @ RBF(X, X)
    np.testing.assert_allclose(blocks["values"], values, atol=1e-6 * np.abs(values).max())


@pytest.mark.parametrize("name", TOYS)
def test_a_certificate_computes_no_kernels_and_values_are_renewed_in_time(name):
    work, _, _ = started(name, BCFW(), n_bytes=300)
    rows = work.run.problem.space.rows
    assert not rows.complete
    before = rows.n_computed
    assert before > 0
    gap = work.certify().gap
    assert work.certify().gap == pytest.approx(gap, abs=1e-14)
    assert rows.n_computed == before
    work, layout, K = started(name, BCFW(), n=20)
    functions, dual = work.run.problem.space, work.run.dual
    values, coefficients = parts(work, layout)
    values += 1.0  # as if rounding had added up to that
    dual.rebuild(work.run.regularizer)
    np.testing.assert_allclose(values, coefficients @ K + 1.0, atol=1e-10)
    functions.most_added = 1
    dual.rebuild(work.run.regularizer)
    np.testing.assert_allclose(values, coefficients @ K, atol=1e-10)


def test_rows_of_blocks_without_gap_are_not_computed(monkeypatch):
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 600)
    toy = multiclass_toy(0, n=60, n_states=2)
    centres = 4.0 * np.array([[1.0], [-1.0]])
    labels = np.array([int(np.ravel(found[0])[0]) for found in truths(toy)])
    noise = np.random.default_rng(0).normal(scale=0.3, size=(60, 1))
    toy.X = list(centres[labels] + noise)
    problem, _ = in_kernel_space("multiclass", toy, RBF)
    regularizer = Regularizer(0.02, problem.n_weights, problem.space.covector)
    solution = BCFW().solve(problem, regularizer, tol=0.0, max_iter=1, random_state=0)
    # two far clusters: after the first of six batches the others have nothing to gain
    assert solution.gap < 0.1
    assert 2 <= problem.space.rows.n_computed <= 30


# ---- sums that end early ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "n_bytes"), [("chain", 1e9), ("multiclass", 1000)])
def test_a_sum_that_is_cut_short_leaves_everything_as_it_was(own_handler, name, n_bytes):
    work, layout, K = started(name, BCFW(steps="fw"), n=24, n_bytes=n_bytes)
    dual, regularizer = work.run.dual, work.run.regularizer
    # the sum of the half is worked out afresh, from all rows
    regularizer.change_lam(2.0 * regularizer.lam)
    before, w = np.array(regularizer.v), regularizer.coef()
    with PressedStop(2) as stop:
        stop.begin_pass()
        with pytest.raises(CutShort):
            dual.rebuild(regularizer, stop)
        assert stop.n_looks == 2
    np.testing.assert_array_equal(regularizer.v, before)
    np.testing.assert_array_equal(regularizer.coef(), w)
    regularizer.change_lam(0.5 * regularizer.lam)
    dual.rebuild(regularizer)
    values, coefficients = parts(work, layout)
    precision = 1e-12 if n_bytes == 1e9 else 1e-6
    np.testing.assert_allclose(values, coefficients @ K, atol=precision * np.abs(values).max())


@pytest.mark.parametrize(
    ("name", "solver"), [("chain", "pairwise"), ("multiclass", "fw"), ("chain", "cuts")]
)
def test_at_every_look_there_is_a_model_with_its_gap(own_handler, name, solver):
    toy = TOYS[name](4, n=8)
    for moment in range(1, 40, 6):
        problem, layout = in_kernel_space(name, toy, RBF, n_bytes=1000)
        regularizer = Regularizer(0.05, problem.n_weights, problem.space.covector)
        stop = PressedStop(moment)
        with stop:
            solution = SOLVERS[solver].solve(
                problem, regularizer, tol=0, max_iter=9, random_state=0, stop=stop
            )
        assert solution.status is Status.INTERRUPTED
        assert solution.certified
        assert stop.n_pass_looks == moment
        # another certificate at the same weights, with sums of its own
        fresh = Regularizer(0.05, problem.n_weights, problem.space.covector)
        hinge = make_pool(problem, 1).hinges(fresh.padded(solution.w))
        primal = fresh.primal(solution.w, float(np.dot(problem.block_weight, hinge)))
        assert solution.primal == pytest.approx(primal, abs=1e-12)
        X = np.concatenate([np.atleast_2d(x) for x in toy.X])
        blocks = layout.split(solution.w)
        values = blocks["dual_coef"] @ RBF(X, X)
        np.testing.assert_allclose(blocks["values"], values, atol=1e-6)
        assert -1e-9 <= solution.gap == pytest.approx(primal - solution.dual, abs=1e-7)
