"""Columns of features, centred and scaled inside a fit, with weights in the user's units."""

import tempfile
import warnings
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import StrOptions

from sskit._parameters import parameter, parameters
from sskit.estimators.base.summary import matrices
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.features import float64_blocks, is_mapped

# A column with more than this fraction of the squared norm of all leaves the others without effect.
NEARLY_ALL = 0.99
ENTRIES_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Columns:
    """How columns are centred and scaled: x becomes (x - shift) factor.

    Attributes
    ----------
    shift : ndarray of shape (n_features,) or None
        Weighted means; None where columns are not centred.
    factor : ndarray of shape (n_features,)
        Positive.
    n_varying : int, default=0
        How many columns are not constant (if they are not centred: not zero): the mean squared norm
        of a row once they are scaled.
    """

    shift: np.ndarray | None
    factor: np.ndarray
    n_varying: int = 0

    def __eq__(self, other):
        if not isinstance(other, Columns):
            return NotImplemented
        return np.array_equal(self.factor, other.factor) and np.array_equal(self.shift, other.shift)

    def applied(self, X):
        """Return a matrix with its columns centred and scaled.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
            Features. Sparse ones are for columns that are not centred.

        Returns
        -------
        X : ndarray or CSR matrix of shape (n, n_features)
            A copy: in float64 of float64, else in float32; of a memory-mapped array in a temporary
            file.
        """
        if sp.issparse(X):
            data = np.multiply(X.data, self.factor[X.indices]).astype(X.dtype, copy=False)
            return type(X)((data, X.indices, X.indptr), shape=X.shape)
        dtype = np.float64 if X.dtype == np.float64 else np.float32
        if is_mapped(X) and X.size:
            with tempfile.TemporaryFile() as file:  # the map keeps it
                out = np.memmap(file, dtype, "w+", shape=X.shape)
        else:
            out = np.empty(X.shape, dtype=dtype)
        for part in float64_blocks(X):
            block = X[part] if self.shift is None else X[part] - self.shift
            np.multiply(block, self.factor, out=out[part], casting="same_kind")
        return out

    def to_user(self, layout, w):
        """Return flat weights of features as the user gave them, from those of scaled ones."""
        w = np.array(w)
        blocks = layout.split(w)
        blocks["coef"] *= self.factor
        if self.shift is not None and "intercept" in blocks:
            blocks["intercept"] -= blocks["coef"] @ self.shift
        return w

    def from_user(self, layout, w):
        """Return flat weights of scaled features, the inverse of `to_user`."""
        w = np.array(w)
        blocks = layout.split(w)
        if self.shift is not None and "intercept" in blocks:
            blocks["intercept"] += blocks["coef"] @ self.shift
        blocks["coef"] /= self.factor
        return w

    def box(self, layout, lower, upper):
        """Return bounds of the weights of scaled features; those of intercepts stay as they are."""
        unit = np.ones(layout.n_weights)
        layout.split(unit)["coef"][...] = self.factor
        return lower / unit, upper / unit


@dataclass(frozen=True)
class ColumnSums:
    """Weighted means and squares of columns; those of parts of the data add up.

    Attributes
    ----------
    weight : float
        Sum of the weights of the rows.
    n_rows : int
        Number of rows.
    mean : ndarray of shape (n_features,)
        Weighted means.
    squares : ndarray of shape (n_features,)
        Weighted sums of the squared distances to the mean.
    centred : bool
        Whether columns are to be centred.
    """

    weight: float
    n_rows: int
    mean: np.ndarray
    squares: np.ndarray
    centred: bool

    @classmethod
    def of(cls, X, weight, centred):
        """Return the sums of a matrix.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Finite features.
        weight : ndarray of shape (n,) or None
            Non-negative weights of the rows.
        centred : bool
            Whether columns are to be centred; they cannot if they are sparse.

        Returns
        -------
        sums : ColumnSums
            In double precision.
        """
        n, p = X.shape
        centred = centred and not sp.issparse(X)
        weight = np.ones(n) if weight is None else weight
        total = float(weight.sum())
        # of rows of any weight the sums stay finite
        fraction = weight / total if total else np.zeros(n)
        if sp.issparse(X):
            squared = type(X)(
                (np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape
            )
            mean, squares = fraction @ X, fraction @ squared
            squares = np.maximum(squares - np.square(mean), 0.0)
        else:
            mean, squares = np.zeros(p), np.zeros(p)
            for part in float64_blocks(X):
                mean += np.einsum("i,ij->j", fraction[part], X[part], dtype=np.float64)
            for part in float64_blocks(X):
                squares += np.einsum("i,ij->j", fraction[part], np.square(X[part] - mean))
        return cls(total, n, np.asarray(mean).ravel(), total * np.asarray(squares).ravel(), centred)

    def __add__(self, other):
        """Return the sums over the rows of both (Chan, Golub, LeVeque 1983)."""
        weight = self.weight + other.weight
        fraction = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        mean, n_rows = self.mean + fraction * apart, self.n_rows + other.n_rows
        squares = self.squares + other.squares + self.weight * fraction * np.square(apart)
        return replace(self, weight=weight, n_rows=n_rows, mean=mean, squares=squares)

    def columns(self):
        """Return the `Columns` that follow from these sums.

        A column that only differs from its mean (if it is not centred: from zero) by rounding is
        not scaled.
        """
        variance = self.squares / self.weight if self.weight else np.zeros(len(self.mean))
        rounding = np.square(self.n_rows * np.finfo(np.float64).eps * self.mean)
        if not self.centred:
            variance, rounding = variance + np.square(self.mean), 0.0
        varies = variance > rounding
        factor = 1.0 / np.sqrt(np.where(varies, variance, 1.0))
        return Columns(self.mean if self.centred else None, factor, int(varies.sum()))


def warn_of_column(estimator, features, names, stacklevel):
    """Warn of a column that has nearly all of the squared norm of features.

    Parameters
    ----------
    estimator : StructuredEstimator
        Which is told how to scale them.
    features : list of {ndarray, CSR matrix} of shape (n_i, p)
        Finite.
    names : sequence of p str or None
        Names of the columns.
    stacklevel : int
        That of the warning, seen from here.
    """
    if not features or features[0].shape[1] < 2:
        return
    squares = np.zeros(features[0].shape[1])
    with np.errstate(over="ignore"):
        for X in features:
            if sp.issparse(X):
                for first in range(0, len(X.data), ENTRIES_AT_ONCE):
                    part = slice(first, first + ENTRIES_AT_ONCE)
                    entries = np.square(X.data[part], dtype=np.float64)
                    squares += np.bincount(X.indices[part], entries, minlength=len(squares))
            else:
                squares += np.einsum("ij,ij->j", X, X, dtype=np.float64)
        largest, total = int(np.argmax(squares)), squares.sum()
    if squares[largest] > NEARLY_ALL * total and np.isfinite(total):
        name = largest if names is None else repr(str(names[largest]))
        scaled = "of tokens by TokenTransformer(StandardScaler())"
        if hasattr(estimator, "standardize"):
            scaled = "by standardize=True"
        warnings.warn(
            f"column {name} of X has {100 * squares[largest] / total:.4g} % of the "
            f"{estimator._measure}, so that the regularisation makes the others almost useless: "
            f"scale the columns, {scaled}, or leave this one out",
            stacklevel=stacklevel + 1,
        )


@parameters
class StandardizeMixin:
    """The parameter `standardize` of estimators of rows.

    To be inherited from before `StructuredEstimator`. Checked training data have the rows as
    ``data``; without an intercept nothing takes up what centring takes away, unless
    ``_needs_intercept`` is false.
    """

    standardize: object = parameter("auto", "boolean", StrOptions({"auto"}))
    _needs_intercept = True

    def _summarize(self, checked):
        """Return the summary of checked data, with the sums of columns that are scaled."""
        summary, weight, wanted = super()._summarize(checked), checked.weight, self.standardize
        (X,) = matrices(checked.data)
        if isinstance(wanted, str):
            wanted = not sp.issparse(X)
        if not wanted or checked.scale is None:  # in a kernel space
            return summary
        if isinstance(checked.data, RaggedArray) and weight is not None:
            weight = np.repeat(weight, checked.data.lengths)  # rows have the weight of their set
        bounds = self.bounds
        free = bounds is None or (isinstance(bounds, dict) and "intercept" not in bounds)
        centred = not self._needs_intercept or (self.fit_intercept and free)
        return replace(summary, columns=ColumnSums.of(X, weight, centred))
