"""Parameters and fitted attributes of estimators in a kernel space."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from sskit._parameters import NON_NEGATIVE, POSITIVE, parameter, parameters
from sskit.estimators.base.fitted_state import (
    check_count,
    check_numbers,
    check_sparse,
    raise_damaged,
)
from sskit.models.kernel.functions import Kernel, PrecomputedKernel, expand, named_kernel

MEGABYTE = 2.0**20
# Coefficients below this fraction of the largest are noise of rounding.
NOISE = 1e-14


class FittedKernel:
    """Types of the attributes that a fitted `KernelMixin` has in a kernel space."""

    support_: np.ndarray
    support_vectors_: Any
    n_support_: np.ndarray
    dual_coef_: np.ndarray
    kernel_: Any


@parameters
class KernelMixin(FittedKernel):
    """Parameters of estimators that may be fitted in a kernel space."""

    kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] | Callable[..., Any] = (
        parameter(callable, default="linear")
    )
    gamma: Literal["scale", "auto"] | float = parameter(NON_NEGATIVE, default="scale")
    degree: int = parameter(Interval(numbers.Integral, 0, None, closed="left"), default=3)
    coef0: float = parameter(Interval(numbers.Real, None, None, closed="neither"), default=0.0)
    kernel_cache: float = parameter(POSITIVE, default=500.0)


def make_kernel(estimator, X):
    """Return the kernel of the parameters of an estimator; X as of `named_kernel`."""
    parameters = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
    return named_kernel(estimator.kernel, X, **parameters)


def kernel_bytes(estimator):
    """Return how many bytes kernel rows may take; a float16 of megabytes would overflow."""
    return float(estimator.kernel_cache) * MEGABYTE


def support_of(coefficients, labels, kernel, X):
    """Return the fitted attributes of the support rows of training.

    Parameters
    ----------
    coefficients : ndarray of shape (n_functions, n_rows)
        Of the kernels with the training rows.
    labels : ndarray of shape (n_rows,)
        True classes, 0 to K - 1.
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_rows, p)
        Training rows.

    Returns
    -------
    fitted : dict
        With arrays of their own.

    Raises
    ------
    ValueError
        If what a path keeps of its data does not fit.
    """
    check_sparse("kernel model", "the matrix of training rows", X)
    size = np.abs(coefficients).max(axis=0)
    support = np.flatnonzero(size > NOISE * size.max(initial=0.0))
    return {
        "kernel_": kernel,
        "support_": support,
        "support_vectors_": kernel.support_vectors(X, support),
        "n_support_": np.bincount(labels[support], minlength=int(labels.max()) + 1),
        "dual_coef_": np.ascontiguousarray(coefficients[:, support]),
    }


def function_values(estimator, X, n_functions):
    """Return the values of the functions of a fitted estimator, without the intercept.

    Parameters
    ----------
    estimator : StructuredEstimator
        Fitted with a kernel.
    X : {ndarray, CSR matrix} of shape (m, p)
        Checked rows.
    n_functions : int
        How many there must be.

    Returns
    -------
    values : ndarray of shape (m, n_functions)
        Computed for some rows at a time, in bounded memory.

    Raises
    ------
    ValueError
        Naming a fitted attribute that does not fit the others.
    """
    n, p = np.size(getattr(estimator, "support_", None)), check_count(estimator, "n_features_in_")
    check_numbers(estimator, {"support_": (n,)}, integer=True)
    kernel, support = getattr(estimator, "kernel_", None), estimator.support_
    if not isinstance(kernel, Kernel):
        raise_damaged(estimator, f"kernel_ must be a Kernel, got {kernel!r}")
    precomputed = isinstance(kernel, PrecomputedKernel)
    if precomputed and n and not 0 <= support.min() <= support.max() < p:
        raise_damaged(estimator, f"support_ must hold numbers of {p} training rows")
    shapes = {"dual_coef_": (n_functions, n), "support_vectors_": (0, 0) if precomputed else (n, p)}
    vectors = getattr(estimator, "support_vectors_", None)
    if sp.issparse(vectors) and vectors.shape == shapes["support_vectors_"]:
        check_sparse(estimator, "support_vectors_", vectors)
        del shapes["support_vectors_"]
    check_numbers(estimator, shapes)
    return expand(kernel, X, support, vectors, estimator.dual_coef_)
