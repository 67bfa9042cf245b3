"""The cache of kernel rows keeps its budget and gives the rows of the kernel."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sskit.models.kernel.functions import Kernel
from sskit.models.kernel.rows import KernelRows

X = np.random.default_rng(0).normal(size=(9, 3))
K = X @ X.T
CLOSE = {False: {"rtol": 1e-12}, True: {"rtol": 1e-6, "atol": 1e-7}}
every_kind = pytest.mark.parametrize("single", CLOSE)


def linear_rows(n_slots, single=False):
    return KernelRows(partial(Kernel("linear").rows, X), len(X), n_slots, 4, single)


def get(rows, *numbers):
    """Rows that are kept, one after the other."""
    found = []
    for t in numbers:
        rows.ensure(np.array([t]))
        found.append(rows.take(np.array([t]))[0])
    return found


@every_kind
@settings(max_examples=30, deadline=None)
@given(
    n_slots=st.integers(1, 9),
    visits=st.lists(st.lists(st.integers(0, 8), min_size=1, unique=True), max_size=20),
)
def test_every_row_is_right_whatever_came_before(single, n_slots, visits):
    rows = linear_rows(n_slots, single)
    for visit in visits:
        np.testing.assert_allclose(get(rows, visit[0])[0], K[visit[0]], **CLOSE[single])
        np.testing.assert_allclose(rows.take(np.array(visit)), K[visit], **CLOSE[single])
        assert rows.is_cached(np.arange(9)).sum() <= n_slots
    # all rows are computed once if they fit
    rows = linear_rows(100, single)
    assert (rows.n_rows, rows.n_slots, rows.n_computed, rows.complete) == (9, 9, 0, False)
    rows.fill(np.arange(9), np.arange(9))
    np.testing.assert_allclose(get(rows, *range(9)), K, **CLOSE[single])
    assert (rows.n_computed, rows.complete) == (9, True)


def test_which_row_leaves():
    rows = linear_rows(3)

    def held(n):
        return rows.is_cached(np.arange(n)).nonzero()[0].tolist()

    get(rows, 0, 1, 2, 0)
    assert rows.n_computed == 3
    get(rows, 3)  # in place of the least recently used one
    get(rows, 0, 2, 3)
    assert (rows.n_computed, held(9)) == (4, [0, 2, 3])
    # runs of which all that were ever there are at hand
    rows, starts, stops = linear_rows(3), np.array([0, 2, 4]), np.array([2, 4, 6])
    assert not rows.cached_blocks(starts, stops).any()
    get(rows, 0, 2, 3)
    assert rows.cached_blocks(starts, stops).tolist() == [True, True, False]
    get(rows, 4)  # in place of 0
    assert rows.cached_blocks(starts, stops).tolist() == [False, True, True]
    # one of no use leaves before older ones
    rows = linear_rows(3)
    get(rows, 0, 1, 2)
    rows.release(np.array([2, 4]))
    get(rows, 3)
    assert held(5) == [0, 1, 3]
    rows.release(np.array([1]))
    get(rows, 1, 4)  # of use again, and in place of 0
    assert held(5) == [1, 3, 4]
    # rows that are taken for once drive none out
    rows = linear_rows(3)
    get(rows, 0, 1)
    rows.take(np.array([1, 2, 3, 4]))  # one of the last three finds a free slot
    assert rows.n_computed == 5
    assert held(2) == [0, 1] and len(held(5)) == 3
    rows = linear_rows(3)
    get(rows, 0)
    rows.ensure(np.array([8, 0, 4]))  # at once
    assert (rows.n_computed, held(9)) == (3, [0, 4, 8])


def test_rounding_is_that_of_the_rows_and_a_matrix_is_not_copied():
    kernels = np.array([1.0 / 3.0])
    assert linear_rows(2).rounded(kernels) == kernels
    single = linear_rows(2, single=True)
    assert single.rounded(np.array([1e60])) == np.inf  # without a warning
    rounded = single.rounded(kernels)
    assert rounded.dtype == np.float64
    assert rounded == np.float32(1.0 / 3.0)
    matrix = K.copy()
    rows = KernelRows.of_matrix(matrix, 4)
    matrix[2, 3] += 1.0
    assert get(rows, 2)[0][3] == matrix[2, 3]
    assert rows.n_computed == 0
    # how many blocks best take their steps together
    for some, n_blocks, size in [
        (linear_rows(9), 9, 4), (linear_rows(2), 9, 1), (linear_rows(9), 3, 1), (rows, 9, 0),
    ]:  # fmt: skip
        assert some.batch_size(n_blocks) == size
