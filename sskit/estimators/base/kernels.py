"""Parameters and fitted attributes of estimators in a kernel space."""

import numbers

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from sskit._labels import is_same
from sskit.estimators.base.fitted_state import (
    check_count,
    check_numbers,
    check_sparse,
    raise_damaged,
)
from sskit.inputs.stacking import refuse_large
from sskit.models.features import float64_blocks, squared_norms
from sskit.models.kernel.functions import Kernel, PrecomputedKernel, check_precomputed, expand

MEGABYTE = 2.0**20
LARGEST_GAMMA = float(np.finfo(np.float64).max)
DEFAULTS = {"gamma": "scale", "degree": 3, "coef0": 0.0, "kernel_cache": 500.0}
# Parameters that a kernel has; the others must have their defaults.
PARAMETERS = {
    "linear": (),
    "rbf": ("gamma", "kernel_cache"),
    "poly": ("gamma", "degree", "coef0", "kernel_cache"),
    "sigmoid": ("gamma", "coef0", "kernel_cache"),
    "precomputed": (),
}
CALLABLE = ("kernel_cache",)
# Coefficients below this share of the largest are noise of rounding.
NOISE = 1e-14


class KernelMixin:
    """Parameters of estimators that also learn in a kernel space."""

    _parameter_constraints = {
        "kernel": [StrOptions(set(PARAMETERS)), callable],
        "gamma": [
            StrOptions({"scale", "auto"}),
            Interval(numbers.Real, 0, None, closed="left"),
        ],
        "degree": [Interval(numbers.Integral, 0, None, closed="left")],
        "coef0": [Interval(numbers.Real, None, None, closed="neither")],
        "kernel_cache": [Interval(numbers.Real, 0, None, closed="neither")],
    }

    def _check_parameters(self):
        """Raise an error for the first parameter that is wrong; return the solver."""
        solver = super()._check_parameters()
        check_kernel(self)
        return solver

    def _refuse_parts(self):
        """Return why an estimator cannot be fitted to data in parts, or None if it can."""
        if is_kernel(self):
            return (
                "data in parts cannot be fitted with a kernel: the weights are functions of all "
                "training rows; leave kernel at 'linear'"
            )
        return super()._refuse_parts()


def is_kernel(estimator):
    """Return whether an estimator asks for a kernel that is not the linear one."""
    return not (isinstance(estimator.kernel, str) and estimator.kernel == "linear")


def check_kernel(estimator):
    """Raise ValueError if the kernel parameters of an estimator do not fit each other.

    Parameters
    ----------
    estimator : StructuredEstimator
        Has the parameters, each within its constraints.

    Raises
    ------
    ValueError
        Naming a parameter that the kernel has no use for, or bounds.
    """
    named = isinstance(estimator.kernel, str)
    name = repr(estimator.kernel) if named else "a callable"
    used = PARAMETERS[estimator.kernel] if named else CALLABLE
    unused = {key: default for key, default in DEFAULTS.items() if key not in used}
    require_defaults(estimator, unused, f"has no meaning with kernel={name}")
    if is_kernel(estimator) and estimator.prior is not None:
        raise ValueError(
            f"a prior cannot be kept with kernel={name}: the weights are functions of these "
            "training data, and those of others have nothing to be compared with"
        )
    if is_kernel(estimator) and estimator.bounds is not None:
        raise ValueError(
            f"bounds cannot be kept with kernel={name}: the weights are functions, which have no "
            "entries to put bounds on"
        )


def require_defaults(estimator, defaults, why):
    """Raise ValueError for the first parameter of an estimator that has not its default.

    Parameters
    ----------
    estimator : estimator
        Has the parameters.
    defaults : dict
        By name.
    why : str
        What is wrong with another value.

    Raises
    ------
    ValueError
        Naming the parameter, its value and its default.
    """
    for name, default in defaults.items():
        value = getattr(estimator, name)
        if not is_same(value, default):
            raise ValueError(f"{name}={value!r} {why}; leave it at {default!r}")


def make_kernel(estimator, X):
    """Return the kernel that the parameters of an estimator ask for.

    Parameters
    ----------
    estimator : StructuredEstimator
        Its kernel is not the linear one.
    X : {ndarray, CSR matrix} of shape (n_rows, p)
        Training rows, by which gamma="scale" goes.

    Returns
    -------
    kernel : Kernel
        With gamma as a number.

    Raises
    ------
    ValueError
        If a precomputed matrix cannot be one.
    """
    if callable(estimator.kernel):
        return Kernel(estimator.kernel)
    if estimator.kernel == "precomputed":
        if sp.issparse(X):
            raise ValueError("with kernel='precomputed' X must be dense, got a sparse matrix")
        check_precomputed(X)
        return PrecomputedKernel()
    values = {name: getattr(estimator, name) for name in PARAMETERS[estimator.kernel]}
    values.pop("kernel_cache")
    values["gamma"] = number_of_gamma(values["gamma"], X)
    return Kernel(estimator.kernel, **values)


def kernel_bytes(estimator):
    """Return how many bytes kernel rows may take; a float16 of megabytes would overflow."""
    return float(estimator.kernel_cache) * MEGABYTE


def number_of_gamma(gamma, X):
    """Return gamma as a number: 1 / (p var(X)) for "scale", 1 / p for "auto"."""
    if not isinstance(gamma, str):
        return float(gamma)
    p = X.shape[1]
    if gamma == "auto":
        return 1.0 / p
    with np.errstate(over="ignore", invalid="ignore"):
        variance = variance_of(X)
    if not np.isfinite(variance):
        refuse_large(squared_norms(X))
    with np.errstate(over="ignore"):
        return float(min(1.0 / (p * variance), LARGEST_GAMMA)) if variance > 0 else 1.0


def variance_of(X):
    """Return the variance of all entries of a matrix in double precision, whatever its type."""
    rows = X.data[: X.nnz, None] if sp.issparse(X) else X
    size = np.prod(X.shape, dtype=float)
    n_zeros = size - rows.size
    mean = sum(block.sum() for block in float64_rows(rows)) / size
    return (
        sum(np.square(block - mean).sum() for block in float64_rows(rows)) + n_zeros * mean**2
    ) / size


def float64_rows(X):
    """Yield blocks of rows in double precision."""
    return (X[part].astype(np.float64, copy=False) for part in float64_blocks(X))


def support_of(coefficients, labels, kernel, X):
    """Return the fitted attributes that say which training rows matter.

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
    n_rows = X.shape[0] if np.ndim(X) == 2 or sp.issparse(X) else -1
    if not coefficients.shape[1] == n_rows == np.size(labels):
        raise_damaged("kernel model", f"{coefficients.shape[1]} training rows must be kept")
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not 0 <= labels.max() < n_rows:
        raise_damaged("kernel model", "the labels of the training rows must be their classes")
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


def check_functions(estimator, n_functions):
    """Raise ValueError, naming it, for an attribute of a kernel model that does not fit."""
    support = getattr(estimator, "support_", None)
    check_numbers(estimator, {"support_": (np.size(support),)}, integer=True)
    check_numbers(estimator, {"dual_coef_": (n_functions, len(support))})
    kernel = getattr(estimator, "kernel_", None)
    if not isinstance(kernel, Kernel) or not all(
        isinstance(value, numbers.Real) for value in kernel.parameters.values()
    ):
        raise_damaged(estimator, f"kernel_ must be a Kernel with numbers, got {kernel!r}")
    p = check_count(estimator, "n_features_in_")
    if isinstance(kernel, PrecomputedKernel):
        if len(support) and not 0 <= support.min() <= support.max() < p:
            raise_damaged(estimator, f"support_ must hold numbers of {p} training rows")
        check_numbers(estimator, {"support_vectors_": (0, 0)})
        return
    vectors = estimator.support_vectors_
    if sp.issparse(vectors):
        check_sparse(estimator, "support_vectors_", vectors)
    else:
        check_numbers(estimator, {"support_vectors_": (len(support), p)})
    if vectors.shape != (len(support), p):
        got = f"got {vectors.shape}"
        raise_damaged(estimator, f"support_vectors_ must have the shape {len(support), p}, {got}")


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
    check_functions(estimator, n_functions)
    return expand(
        estimator.kernel_,
        X,
        estimator.support_,
        estimator.support_vectors_,
        estimator.dual_coef_,
    )
