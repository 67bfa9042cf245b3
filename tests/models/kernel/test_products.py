"""Rows of Gaussian kernel matrices by matrix products."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import rbf_kernel

from sskit.models.kernel import space
from sskit.models.kernel.functions import Kernel
from sskit.models.kernel.gaussian import GaussianRows
from sskit.models.kernel.space import GaussianProducts, gaussian_rows

RBF = Kernel("rbf", gamma=0.02)


@pytest.mark.parametrize("columns", [4, 512])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("given", [np.float64, np.float32])
def test_rows_are_those_of_scikit_learn(given, dtype, columns, monkeypatch):
    monkeypatch.setattr(space, "COLUMNS", columns)
    X = np.random.default_rng(0).normal(size=(11, 50)).astype(given)
    X[7] = X[3]
    rows, table = gaussian_rows(RBF, X), np.full((4, 11), 7.0, dtype=dtype)
    assert isinstance(rows, GaussianProducts)
    rows.fill(np.array([3, 9, 0]), table, np.array([2, 0, 3]))
    exact = rbf_kernel(X.astype(np.float64), gamma=0.02)
    precision = 1e-13 if dtype is np.float64 else 2e-6
    np.testing.assert_allclose(table[[2, 0, 3]], exact[[3, 9, 0]], rtol=precision)
    assert (table[1] == 7.0).all() and table.max() == 7.0
    assert table[2, 3] == table[0, 9] == table[3, 0] == 1.0
    assert table[2, 7] <= 1.0


@pytest.mark.parametrize("single", [True, False])
def test_single_precision_is_for_what_it_can_hold(single):
    X = np.random.default_rng(0).normal(size=(30, 50))
    assert not GaussianProducts(10.0 * X, 0.02).single
    rows, table = GaussianProducts(X, 0.02), np.zeros((30, 30), dtype=np.float32)
    assert rows.single
    rows.single = single
    rows.fill(np.arange(30), table, np.arange(30))
    np.testing.assert_allclose(table, rbf_kernel(X, gamma=0.02), rtol=2e-6 if single else 1e-7)
    np.testing.assert_allclose(table, table.T, rtol=5e-7)


def test_few_entries_are_summed():
    X = np.random.default_rng(0).normal(size=(9, 100))
    X[:, 20:] = 0.0
    found = gaussian_rows(RBF, X)
    assert isinstance(found, GaussianRows)
    # zeros or no zeros, all bits are the same
    tables = np.zeros((2, 9, 9))
    for rows, table in zip((found, GaussianRows(X, 0.02)), tables, strict=True):
        rows.fill(np.arange(9), table, np.arange(9))
    np.testing.assert_array_equal(*tables)


def test_what_is_left_to_others(monkeypatch):
    X = np.ones((4, 40))
    assert gaussian_rows(Kernel("poly", gamma=0.02, degree=2, coef0=0.0), X) is None
    assert gaussian_rows(RBF, 1e200 * X) is None
    assert isinstance(gaussian_rows(RBF, csr_matrix(X)), GaussianRows)
    monkeypatch.setattr(space, "MOST_ENTRIES", 159)
    assert isinstance(gaussian_rows(RBF, X), GaussianProducts)
    # no copy in double precision that is too large
    assert not isinstance(gaussian_rows(RBF, X.astype(np.float32)), GaussianProducts)
