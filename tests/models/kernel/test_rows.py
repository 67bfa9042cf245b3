"""The cache of kernel rows."""

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


def get(rows, t):
    """Row t, which is kept."""
    rows.ensure(np.array([t]))
    return rows.take(np.array([t]))[0]


@every_kind
def test_all_rows_are_computed_once_if_they_fit(single):
    rows = linear_rows(100, single)
    assert (rows.n_rows, rows.n_slots, rows.n_computed, rows.complete) == (9, 9, 0, False)
    rows.fill(np.arange(9), np.arange(9))
    np.testing.assert_allclose([get(rows, t) for t in range(9)], K, **CLOSE[single])
    assert (rows.n_computed, rows.complete) == (9, True)


@every_kind
@settings(max_examples=30, deadline=None)
@given(
    n_slots=st.integers(1, 9),
    visits=st.lists(st.lists(st.integers(0, 8), min_size=1, unique=True), max_size=20),
)
def test_every_row_is_right_whatever_came_before(single, n_slots, visits):
    rows = linear_rows(n_slots, single)
    for visit in visits:
        np.testing.assert_allclose(get(rows, visit[0]), K[visit[0]], **CLOSE[single])
        np.testing.assert_allclose(rows.take(np.array(visit)), K[visit], **CLOSE[single])
        assert rows.held(np.arange(9)).sum() <= n_slots


def test_the_least_recently_used_row_leaves():
    rows = linear_rows(3)
    for t in (0, 1, 2, 0):
        get(rows, t)
    assert rows.n_computed == 3
    get(rows, 3)  # in place of 1
    assert rows.n_computed == 4
    for t in (0, 2, 3):
        get(rows, t)
    assert rows.n_computed == 4
    get(rows, 1)
    assert rows.n_computed == 5


def test_a_row_of_no_use_leaves_before_older_ones():
    rows = linear_rows(3)
    for t in (0, 1, 2):
        get(rows, t)
    rows.release(np.array([2, 4]))
    get(rows, 3)
    assert rows.held(np.arange(5)).tolist() == [True, True, False, True, False]
    rows.release(np.array([1]))
    get(rows, 1)  # of use again
    get(rows, 4)  # in place of 0
    assert rows.held(np.arange(5)).tolist() == [False, True, False, True, True]


def test_rows_that_are_taken_for_once_drive_none_out():
    rows = linear_rows(3)
    get(rows, 0)
    get(rows, 1)
    rows.take(np.array([1, 2, 3, 4]))  # one of the last three finds a free slot
    assert rows.n_computed == 5
    assert rows.held(np.array([0, 1])).all()
    assert rows.held(np.array([2, 3, 4])).sum() == 1
    rows = linear_rows(3)
    get(rows, 0)
    rows.ensure(np.array([8, 0, 4]))  # at once
    assert rows.held(np.array([0, 4, 8])).all()
    assert rows.n_computed == 3


def test_runs_of_rows_that_are_at_hand():
    rows = linear_rows(3)
    starts, stops = np.array([0, 2, 4]), np.array([2, 4, 6])
    assert not rows.cached_blocks(starts, stops).any()
    for t in (0, 2, 3):
        get(rows, t)
    assert rows.cached_blocks(starts, stops).tolist() == [True, True, False]
    get(rows, 4)  # in place of 0
    assert rows.cached_blocks(starts, stops).tolist() == [False, True, True]


def test_how_many_blocks_best_take_their_steps_together():
    assert linear_rows(9).batch_size(9) == 4
    assert linear_rows(2).batch_size(9) == 1
    assert linear_rows(9).batch_size(3) == 1
    assert KernelRows.of_matrix(K, 4).batch_size(9) == 0


def test_rounding_is_that_of_the_rows_and_a_matrix_is_not_copied():
    kernels = np.array([1.0 / 3.0])
    assert linear_rows(2).rounded(kernels) == kernels
    rounded = linear_rows(2, single=True).rounded(kernels)
    assert rounded.dtype == np.float64
    assert rounded == np.float32(1.0 / 3.0)
    matrix = K.copy()
    rows = KernelRows.of_matrix(matrix, 4)
    matrix[2, 3] += 1.0
    assert get(rows, 2)[3] == matrix[2, 3]
    assert rows.n_computed == 0
