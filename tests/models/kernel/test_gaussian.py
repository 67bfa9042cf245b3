"""Rows of Gaussian kernel matrices are those of scikit-learn, to their precision."""

import numpy as np
import pytest
from helpers.pairwise import every_pair
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import rbf_kernel

import sskit.models.kernel.gaussian
from sskit.models.kernel.functions import Kernel
from sskit.models.kernel.gaussian import GaussianRows
from sskit.models.kernel.space import kernel_rows


def filled(X, numbers, dtype=np.float64, gamma=0.7):
    """The rows with these numbers, in a table that has room for more."""
    rows, places = GaussianRows(X, gamma, dtype == np.float32), np.arange(len(numbers))[::-1] + 1
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
    precision = (4e-6 if single else 1e-15) + 3e-15 * size
    np.testing.assert_allclose(found, exact, rtol=precision, atol=precision if single else 1e-300)
    assert (found <= 1.0).all()
    assert found[np.arange(len(numbers)), numbers] == pytest.approx(1.0, abs=precision)


@every_pair(form=[np.asarray, csr_matrix], dtype=[np.float32, np.float64], scale=[0.1, 100.0])
def test_the_matrix_is_symmetric_with_ones_on_the_diagonal(form, dtype, scale):
    """What problems take for the squared norms of their rows."""
    X = form(scale * np.random.default_rng(0).normal(size=(150, 4)))
    found = filled(X, np.arange(150), dtype, gamma=0.1)
    np.testing.assert_array_equal(np.diagonal(found), 1.0)
    if form is csr_matrix:  # to the last bit
        np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, found.T, rtol=2e-6 if dtype == np.float32 else 1e-10)


def test_single_precision_is_for_what_it_can_hold():
    X = np.random.default_rng(0).normal(size=(50, 3))
    for dtype, matrices in [
        # rows far from zero are near to their mean
        (np.float32, [X, csr_matrix(X), X + 1000.0]),
        (np.float64, [csr_matrix(X + 1000.0), 100.0 * X]),
    ]:
        for one in matrices:
            assert GaussianRows(one, 0.5, True).dtype == dtype
            assert GaussianRows(one, 0.5, False).dtype == np.float64
    close = filled(X + 1000.0, [3], np.float32, gamma=0.5)
    np.testing.assert_allclose(close, rbf_kernel(X[[3]], X, gamma=0.5), atol=4e-6)
    single = X.astype(np.float32)
    exact = rbf_kernel(single[[4]].astype("d"), single.astype("d"), 0.7)
    np.testing.assert_allclose(filled(single, [4]), exact)
    # far rows, and none
    found = filled(np.array([[0.0], [30.0], [40.0]]), [0], gamma=1.0)
    np.testing.assert_array_equal(found, [[1.0, 0.0, 0.0]])
    assert filled(np.ones((4, 2)), []).shape == (0, 4)
    # zeros that are most are left out
    X = np.random.default_rng(0).normal(size=(9, 100))
    assert not GaussianRows(X, 0.1, False).sparse
    X[:, 20:] = 0.0
    assert GaussianRows(X, 0.1, False).sparse
    np.testing.assert_array_equal(filled(X, [2, 4]), filled(csr_matrix(X), [2, 4]))


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_kernels_among_rows_in_stripes_and_of_other_rows(form):
    X = np.random.default_rng(0).normal(size=(1100, 3))
    rows, some = GaussianRows(form(X), 0.4, False), np.array([700, 3, 1099])
    K = rbf_kernel(X[some], X, gamma=0.4)
    np.testing.assert_allclose(rows.among(some), K[:, some], atol=4e-6)
    starts = []
    for start, block in rows.stripes(some):
        part = K[:, start : start + block.shape[1]]
        np.testing.assert_allclose(block[:, : part.shape[1]], part, rtol=1e-13)
        starts.append(start)
    assert starts == [0, 512, 1024]
    others = np.random.default_rng(1).normal(size=(45, 3))
    np.testing.assert_allclose(
        rows.against(form(others)), rbf_kernel(others, X, gamma=0.4), rtol=1e-12
    )
    assert rows.against(form(X[:0])).shape == (0, 1100)
    assert GaussianRows(form(X[:0]), 0.4, False).against(form(X)).shape == (1100, 0)
    assert rows.against(form(1e200 * X)) is None


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_neighbours_stand_together(form):
    def arranged(X, numbers):
        rows = GaussianRows(X, 1.0, False)
        return rows.arrange(np.array(numbers), 20, np.random.RandomState(0))

    X = np.repeat(np.arange(8.0), 16)[:, None] * [[3.0, 1.0]]
    order, random = arranged(form(X), range(100)), np.random.RandomState(0).permutation(100)
    assert sorted(order) == list(range(100))
    assert np.abs(np.diff(X[order, 0])).sum() < 0.6 * np.abs(np.diff(X[random, 0])).sum()
    np.testing.assert_array_equal(arranged(np.ones((128, 40)), range(100)), random)
    np.testing.assert_array_equal(arranged(form(X), [5]), [5])


def test_what_is_left_to_others(monkeypatch):
    X, kernel = np.ones((4, 2)), Kernel("rbf", gamma=0.5)
    assert isinstance(GaussianRows.of(kernel, X, True), GaussianRows)
    assert GaussianRows.of(Kernel("linear"), X, True) is None
    assert GaussianRows.of(kernel, 1e200 * X, True) is None
    # no copy in double precision that is too large
    monkeypatch.setattr(sskit.models.kernel.gaussian, "MOST_ENTRIES", 7)
    for copied in (csr_matrix(X), X.astype(np.float32)):
        assert GaussianRows.of(kernel, copied, True) is None
    assert not GaussianRows.of(kernel, np.eye(4), True).sparse


@pytest.mark.parametrize(("longest", "p"), [(1, 3), (3, 40)])
def test_large_matrices_are_rounded(longest, p, monkeypatch):
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 20)
    X, some = np.random.default_rng(0).normal(size=(20, p)), np.array([7, 2])
    K = rbf_kernel(X, gamma=0.1)
    rows = kernel_rows(Kernel("rbf", gamma=0.1), X, 1e9, longest)
    assert not rows.single
    np.testing.assert_allclose(rows.take(some), K[some])
    monkeypatch.setattr(sskit.models.kernel.space, "MOST_DOUBLES", 8 * 20 * 20 - 1)
    rows = kernel_rows(Kernel("rbf", gamma=0.1), X, 1e9, longest)
    assert rows.single
    # blocks of several rows have kernel matrices of their own, rounded at the end
    precision = 4e-6 if longest == 1 else 1e-7
    np.testing.assert_allclose(rows.take(some), K[some], rtol=precision)
