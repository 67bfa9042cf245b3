"""Rows of Gaussian kernel matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import rbf_kernel

import sskit.models.kernel.gaussian
from sskit.models.kernel.functions import Kernel
from sskit.models.kernel.gaussian import GaussianRows
from sskit.models.kernel.rows import DoubleRows
from sskit.models.kernel.space import kernel_rows


def filled(X, numbers, dtype=np.float64, gamma=0.7):
    """The rows with these numbers, in a table that has room for more."""
    rows, places = GaussianRows(X, gamma), np.arange(len(numbers))[::-1] + 1
    table = np.full((len(numbers) + 1, X.shape[0]), 7.0, dtype=dtype)
    rows.fill(np.asarray(numbers, dtype=np.intp), table, places)
    assert (table[0] == 7.0).all()
    return table[places]


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 700),
    p=st.sampled_from([0, 1, 2, 5, 40, 300]),
    sparse=st.booleans(),
    single=st.booleans(),
    scale=st.sampled_from([1e-3, 1.0, 40.0]),
    seed=st.integers(0, 99),
)
def test_rows_are_those_of_scikit_learn(n, p, sparse, single, scale, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.3) * scale
    numbers = rng.permutation(n)[:5]
    dtype = np.float32 if single else np.float64
    found = filled(csr_matrix(X) if sparse else X, numbers, dtype)
    exact = np.exp(-0.7 * ((X[numbers, None] - X) ** 2).sum(axis=2))
    size = (X**2).sum(axis=1).max(initial=0.0)
    precision = (6e-8 if single else 1e-15) + 3e-15 * size
    np.testing.assert_allclose(found, exact, rtol=precision, atol=1e-38 if single else 1e-300)
    assert (found <= 1.0).all()
    assert found[np.arange(len(numbers)), numbers] == pytest.approx(1.0, abs=precision)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_kernels_of_other_rows(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 4)) * (rng.random((45, 4)) < 0.5)
    rows = GaussianRows(form(X[:40]), 0.7)
    found = rows.against(form(X[35:]))
    np.testing.assert_allclose(found, rbf_kernel(X[35:], X[:40], gamma=0.7), rtol=1e-14)
    assert rows.against(form(X[:0])).shape == (0, 40)
    assert GaussianRows(form(X[:0]), 0.7).against(form(X)).shape == (45, 0)
    assert rows.against(form(1e200 * X)) is None
    with pytest.raises(ValueError, match="the number of features"):
        rows.against(form(X[:, :3]))


def test_far_rows_have_the_kernel_zero():
    found = filled(np.array([[0.0], [30.0], [40.0]]), [0], gamma=1.0)
    np.testing.assert_array_equal(found, [[1.0, 0.0, 0.0]])


def test_features_in_single_precision():
    X = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    np.testing.assert_allclose(filled(X, [4]), rbf_kernel(X[[4]].astype("d"), X.astype("d"), 0.7))


def test_what_is_left_to_others(monkeypatch):
    X = np.ones((4, 2))
    kernel = Kernel("rbf", gamma=0.5)
    assert isinstance(GaussianRows.of(kernel, X), GaussianRows)
    assert GaussianRows.of(Kernel("linear"), X) is None
    assert GaussianRows.of(kernel, 1e200 * X) is None
    monkeypatch.setattr(sskit.models.kernel.gaussian, "MOST_ENTRIES", 7)
    assert GaussianRows.of(kernel, X) is None


def test_bad_arguments():
    rows = GaussianRows(np.ones((4, 2)), 0.5)
    table, one = np.zeros((2, 4)), np.array([1])
    with pytest.raises(IndexError, match="row"):
        rows.fill(np.array([4]), table, one)
    with pytest.raises(IndexError, match="slot"):
        rows.fill(one, table, np.array([2]))
    with pytest.raises(ValueError, match="the length of the rows"):
        rows.fill(one, np.zeros((2, 3)), one)
    with pytest.raises(ValueError, match="the number of places"):
        rows.fill(one, table, np.array([0, 1]))
    rows.fill(one[:0], table, one[:0])
    assert (table == 0.0).all()


def test_a_cache_takes_them(monkeypatch):
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 20)
    X = np.random.default_rng(0).normal(size=(9, 3))
    rows = kernel_rows(Kernel("rbf", gamma=0.7), X, 1e9, 1)
    assert isinstance(rows, DoubleRows)
    np.testing.assert_allclose(rows.take(np.array([3, 1])), rbf_kernel(X, gamma=0.7)[[3, 1]])
