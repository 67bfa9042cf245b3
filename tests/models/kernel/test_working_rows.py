"""Steps of some blocks by their own small kernel matrix."""

import numpy as np
import pytest
from helpers.kernels import in_kernel_space
from helpers.pairwise import every_pair
from helpers.toys import chain_toy, multiclass_toy

import sskit.models.kernel.space
from sskit.core.regularizer import Regularizer
from sskit.models.kernel.functions import Kernel
from sskit.models.kernel.rows import KernelRows, WorkingRows
from sskit.solvers import BCFW
from sskit.solvers.common.fit import begin

TOYS = {"chain": chain_toy, "multiclass": multiclass_toy}
RBF = Kernel("rbf", gamma=0.3)


@pytest.fixture(autouse=True)
def blocks_of_three_rows(monkeypatch):
    """As with many rows: none is computed before it is needed."""
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 100)


def reached(name, solver, *, n_bytes=1e9, max_iter=100):
    """A run to a small gap, its problem, layout and kernel matrix."""
    toy = TOYS[name](4, n=14)
    problem, layout = in_kernel_space(name, toy, RBF, n_bytes=n_bytes)
    regularizer = Regularizer(0.05, problem.n_weights, problem.space.covector)
    work = begin(solver, problem, regularizer, random_state=0)
    work.reach(1e-5, max_iter=max_iter)
    X = np.concatenate([np.atleast_2d(x) for x in toy.X])
    blocks = layout.split(np.asarray(regularizer.v)[: problem.n_weights])
    return work, blocks, RBF(X, X)


@every_pair(name=TOYS, size=[2, 3, 7], n_bytes=[1e9, 1000])
def test_the_optimum_is_that_of_single_steps(name, size, n_bytes):
    options = {"batch_size": size}
    work, blocks, K = reached(name, BCFW(**options), n_bytes=n_bytes)
    single, _, _ = reached(name, BCFW(batch_size=1), n_bytes=n_bytes)
    assert work.run.batches.together
    certificates = [work.certificate, single.certificate]
    # with room for a block or two steps of a sequence are taken one after the other
    closed = 1e-3 if n_bytes == 1e9 else 1e-2
    assert all(found.gap <= closed * found.primal for found in certificates)
    assert max(found.dual for found in certificates) <= min(f.primal for f in certificates) + 1e-7
    values = blocks["dual_coef"] @ K
    precision = 1e-12 if n_bytes == 1e9 else 1e-6
    np.testing.assert_allclose(blocks["values"], values, atol=precision * np.abs(values).max())


@pytest.mark.parametrize("sampling", ["gap", "max_gap", "uniform", "permutation"])
def test_every_order_of_blocks(sampling):
    solver = BCFW(batch_size=4, sampling=sampling, stored_passes=1)
    work, blocks, K = reached("multiclass", solver)
    assert work.certificate.gap <= 1e-5 * work.certificate.primal
    np.testing.assert_allclose(blocks["values"], blocks["dual_coef"] @ K, atol=1e-12)


def test_an_average_follows_every_step():
    solver = BCFW(steps="fw", batch_size=4, averaging=True)
    work, _, _ = reached("multiclass", solver, max_iter=2)
    assert not work.run.batches.together


def test_rows_are_added_once_for_many_steps():
    counted = {}
    for size in (1, 14):
        options = {"batch_size": size}
        solver = BCFW(stored_passes=0, **options)
        work, _, _ = reached("multiclass", solver, n_bytes=1e9)
        counted[size] = work.run.problem.space.rows.n_required
    assert counted[14] < 0.5 * counted[1]


def working(n_states=2):
    K = RBF(np.arange(5.0)[:, None], np.arange(5.0)[:, None])
    return WorkingRows(KernelRows.of_matrix(K, 2), n_states)


def test_nothing_changes_without_a_step():
    rows, values = working(), np.arange(10.0).reshape(2, 5)
    rows.begin(np.array([3, 1]), values, 0)
    assert rows.n == 2
    rows.end(values)
    np.testing.assert_array_equal(values, np.arange(10.0).reshape(2, 5))
    rows.end(None)


def test_steps_need_room():
    # rows that must be kept
    kernel = Kernel("poly", gamma=0.3, degree=2, coef0=1.0)
    problem, _ = in_kernel_space("chain", chain_toy(0, n=6), kernel, n_bytes=1)
    v = np.zeros(problem.n_weights + 8)
    assert not problem.space.begin_steps(np.arange(6), v)
    assert problem.space.begin_steps(np.array([2]), v)
    problem.space.end_steps(v, True)
    assert (v == 0.0).all()
    with pytest.raises(IndexError):
        problem.space.begin_steps(np.array([6]), v)
