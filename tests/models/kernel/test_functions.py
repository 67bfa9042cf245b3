"""Kernel functions are those of scikit-learn; what is wrong is named."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel

from sskit.models.kernel import functions as module
from sskit.models.kernel.functions import Kernel, PrecomputedKernel, check_precomputed, expand

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(7, 3)), RNG.normal(size=(4, 3))
POLY = {"gamma": 0.5, "degree": 2, "coef0": 1.0}


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Kernel("linear"), X @ Y.T),
        (Kernel("rbf", gamma=0.3), rbf_kernel(X, Y, gamma=0.3)),
        (Kernel("poly", **POLY), polynomial_kernel(X, Y, **POLY)),
        (Kernel("sigmoid", gamma=0.1, coef0=-1.0), sigmoid_kernel(X, Y, gamma=0.1, coef0=-1.0)),
        (Kernel(lambda A, B: np.asarray(A @ B.T)), X @ Y.T),
    ],
)
def test_kernels_are_those_of_scikit_learn(kernel, expected):
    np.testing.assert_allclose(kernel(X, Y), expected)
    assert kernel(X, Y).flags.c_contiguous
    if not callable(kernel.function):
        np.testing.assert_allclose(kernel(sp.csr_array(X), sp.csr_array(Y)), expected)
    np.testing.assert_allclose(kernel.rows(X, np.array([2, 5])), kernel(X[[2, 5]], X))
    np.testing.assert_allclose(kernel.within(X, 2, 5), kernel(X[2:5], X[2:5]))


def test_which_kernels_are_definite_and_known_again():
    for kernel, definite in [
        (Kernel("linear"), True),
        (Kernel("rbf", gamma=1.0), True),
        (Kernel("poly", gamma=1.0, degree=2, coef0=0.0), True),
        (Kernel("poly", gamma=1.0, degree=2, coef0=-1.0), False),
        (Kernel("sigmoid", gamma=1.0, coef0=0.0), False),
        (PrecomputedKernel(), True),
    ]:
        assert kernel.definite is definite
    kernel = Kernel("rbf", gamma=0.5)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert kernel not in (Kernel("rbf", gamma=0.25), Kernel("linear"), "rbf")


def test_wrong_kernel_functions_and_matrices(monkeypatch):
    for function, pattern in [
        (lambda A, B: np.ones((len(A), 1)), r"of shape \(7, 4\), got shape \(7, 1\)"),
        (lambda A, B: np.full((len(A), len(B)), "a"), "got shape .* and dtype <U1"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "not finite"),
    ]:
        with pytest.raises(ValueError, match=pattern):
            Kernel(function)(X, Y)
    uneven, negative = X @ X.T, X @ X.T
    uneven[5, 2] += 0.1
    negative[3, 3] = -0.5
    for entries in (2**21, 14):  # at once, and in blocks
        monkeypatch.setattr(module, "BLOCK_ENTRIES", entries)
        for matrix, message in [
            (negative[:, :5], r"square kernel matrix .* got shape \(7, 5\)"),
            (uneven, r"not symmetric: .* at \[2, 5\] but .* at \[5, 2\]"),
            (negative, r"the entry -0.5 at \[3, 3\], below 0"),
        ]:
            with pytest.raises(ValueError, match=message):
                check_precomputed(matrix)


def test_expansion_in_blocks(monkeypatch):
    kernel, support = Kernel("rbf", gamma=0.2), np.array([0, 2, 3])
    coefficients = RNG.normal(size=(2, 3))
    expected = rbf_kernel(X, Y[support], gamma=0.2) @ coefficients.T
    for entries in (2**21, 7, 1):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", entries)
        found = expand(kernel, X, support, Y[support], coefficients)
        np.testing.assert_allclose(found, expected)
    nothing = expand(kernel, X, support[:0], Y[:0], coefficients[:, :0])
    np.testing.assert_array_equal(nothing, np.zeros((7, 2)))
