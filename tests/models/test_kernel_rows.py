"""The cache of kernel rows."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sskit.models._kernel_rows import KernelRows
from sskit.models.kernel import Kernel

X = np.random.default_rng(0).normal(size=(9, 3))
K = X @ X.T


def linear_rows(n_slots):
    return KernelRows(partial(Kernel("linear").rows, X), len(X), n_slots, 4)


def test_all_rows_are_computed_once_if_they_fit():
    rows = linear_rows(100)
    assert (rows.n_rows, rows.n_slots, rows.n_computed) == (9, 9, 9)
    np.testing.assert_allclose([rows[t] for t in range(9)], K)
    assert rows.n_computed == 9


@settings(max_examples=30, deadline=None)
@given(n_slots=st.integers(1, 9), visits=st.lists(st.integers(0, 8), max_size=40))
def test_every_row_is_right_whatever_came_before(n_slots, visits):
    rows = linear_rows(n_slots)
    for t in visits:
        np.testing.assert_allclose(rows[t], K[t])


def test_the_least_recently_used_row_leaves():
    rows = linear_rows(3)
    for t in (0, 1, 2, 0):
        rows[t]
    assert rows.n_computed == 3
    rows[3]  # in place of 1
    assert rows.n_computed == 4
    for t in (0, 2, 3):
        rows[t]
    assert rows.n_computed == 4
    rows[1]
    assert rows.n_computed == 5


def test_a_matrix_is_not_copied():
    rows = KernelRows.of_matrix(K)
    K[2, 3] += 1.0
    assert rows[2][3] == K[2, 3]
    K[2, 3] -= 1.0
    assert rows.n_computed == 0


def test_rows_out_of_range():
    for t in (-1, 9):
        with pytest.raises(IndexError, match=f"row {t} of a kernel matrix with 9 rows"):
            linear_rows(2)[t]
