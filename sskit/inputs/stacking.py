"""Matrices of many sequences, stacked and checked."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sskit._cures import cure_of_frame
from sskit._numbers import as_array, as_floats, checked_csr
from sskit._ready import all_finite, is_canonical
from sskit.inputs.frames import is_frame
from sskit.inputs.ragged_array import locate

# Numbers of these types are read where they lie; all others become the first.
FLOATS = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16))


def is_ready(values, n_features):
    """Return whether a matrix with rows can be read as it is, and has no fault.

    Parameters
    ----------
    values : object
        Anything.
    n_features : int or None
        The number of columns that it must have; None takes any but 0.

    Returns
    -------
    ready : bool
        Whether it is a C-contiguous ndarray or a canonical CSR matrix of finite floats.
    """
    kind = type(values)
    if kind is np.ndarray:
        sound = values.ndim == 2 and values.flags.c_contiguous and all_finite(values)
    elif kind is sp.csr_matrix or kind is sp.csr_array:
        sound = values.ndim == 2 and is_canonical(values) and all_finite(values.data)
    else:
        return False
    wide = sound and (values.shape[1] == n_features if n_features else values.shape[1] > 0)
    return wide and values.shape[0] > 0


def as_matrix(values, name, cure=None):
    """Return a matrix of numbers as kernels read it, which may hold NaN.

    Parameters
    ----------
    values : array-like, data frame, sparse matrix or array
        Real numbers.
    name : str
        What error messages call them.
    cure : callable, default=None
        Returns of values that are wholly wrong what the messages end with; of sequences, whose
        tokens may be words.

    Returns
    -------
    matrix : ndarray or CSR matrix
        In C order, of the first of `FLOATS` that fits, or as `sound_csr` returns it. What is so
        already is not copied.

    Raises
    ------
    TypeError, ValueError
        If the values are no such matrix.
    """
    if sp.issparse(values):
        return sound_csr(values, name)
    array = as_array(values.to_numpy() if hasattr(values, "to_numpy") else values, name)
    if array.shape == (0,):
        return np.empty((0, 0))
    if array.ndim != 2:
        shape = f" of shape {array.shape}" if array.ndim else ""
        raise (ValueError if array.ndim else TypeError)(
            f"{name} must be a matrix of numbers, two-dimensional, (rows, features), got "
            f"{type(values).__name__}{shape}{'' if cure is None else cure(values)}"
        )
    if array.dtype.kind not in "biuf":
        try:
            return as_floats(array, name)
        except ValueError as error:
            if cure is None or not is_frame(values):
                raise
            raise ValueError(f"{error}{cure_of_frame(values)}") from None
    dtype = array.dtype if array.dtype in FLOATS else FLOATS[0]
    return np.ascontiguousarray(array, dtype=dtype)


def sound_csr(matrix, name):
    """Return a sparse matrix as CSR in canonical format, of float64 or float32.

    SciPy trusts the index arrays of a matrix, and reads and writes elsewhere.

    Parameters
    ----------
    matrix : sparse matrix or array
        Of any format.
    name : str
        What it is, for error messages.

    Returns
    -------
    csr : CSR matrix or array
        The matrix itself if it is so already, else a copy.

    Raises
    ------
    ValueError
        If it is not two-dimensional, has no real numbers, or its arrays do not describe one.
    """
    if matrix.format == "csr" and is_canonical(matrix):
        return matrix
    if len(matrix.shape) != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a matrix of numbers, got {matrix.dtype} of shape {matrix.shape}"
        )
    csr = checked_csr(matrix, name).astype(FLOATS[matrix.dtype == FLOATS[1]])
    csr.sum_duplicates()
    return csr


def stack_rows(pieces):
    """Concatenate matrices as kernels read them, dense or sparse: into CSR if any is sparse.

    Nothing is copied of one alone, nor of those that lie one after the other in one array.
    """
    if len(pieces) == 1:
        return pieces[0]
    if any(map(sp.issparse, pieces)):
        return stack_csr(pieces)
    whole = _joined_where_they_lie(pieces)
    return np.ascontiguousarray(np.concatenate(pieces)) if whole is None else whole


def _joined_where_they_lie(pieces):
    """Return consecutive slices of one array as one, or None if they are not such."""
    first = pieces[0]
    owner, place = _owner(first), first.ctypes.data
    for piece in pieces:
        apart = piece.ctypes.data != place or piece.dtype != first.dtype
        if piece.base is None or apart or _owner(piece) is not owner:
            return None
        place += piece.nbytes
    # all memory in between is that of the array they are slices of
    shape = sum(map(len, pieces)), first.shape[1]
    return np.lib.stride_tricks.as_strided(first, shape, first.strides, writeable=False)


def _owner(array):
    """Return the array whose memory another one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def stack_csr(pieces):
    """Concatenate CSR matrices and 2-D arrays into a new CSR array of float64 or float32."""
    dtype = FLOATS[all(x.dtype in FLOATS[1:] for x in pieces)]
    # entries behind the last one in the arrays of a matrix would be stacked, too
    pieces = [
        x
        if sp.issparse(x) and x.indptr[-1] == len(x.data) == len(x.indices)
        else sp.csr_array(x, dtype=dtype)
        for x in pieces
    ]
    stacked = sp.vstack(pieces, format="csr", dtype=dtype)
    index = np.int32 if max(stacked.nnz, stacked.shape[1]) < 2**31 else np.int64
    indices, indptr = (a.astype(index, copy=False) for a in (stacked.indices, stacked.indptr))
    return sp.csr_array((stacked.data, indices, indptr), shape=stacked.shape)


def check_finite(values, name, offsets=None):
    """Raise at the first NaN or infinity of a matrix, naming sequence, row and column."""
    sparse = sp.issparse(values)
    flat = np.asarray(values.data[: values.nnz] if sparse else values.reshape(-1))
    bad = [] if all_finite(flat) else np.flatnonzero(~np.isfinite(flat))
    if not len(bad):
        return
    row, column = divmod(bad[0], values.shape[1])
    if sparse:
        row = np.searchsorted(values.indptr, bad[0], side="right") - 1
        column = values.indices[bad[0]]
    if offsets is not None:
        i, row = locate(offsets, row)
        name = f"{name}[{i}]"
    what = "NaN" if np.isnan(flat[bad[0]]) else "infinity"
    raise ValueError(f"{name} contains {what} at row {row}, column {column}")


def finite_matrix(values, name, n_features=None):
    """Return `as_matrix` of values, all finite; the usual case takes one pass."""
    if not is_ready(values, n_features):
        values = as_matrix(values, name)
        check_finite(values, name)
    return values


def check_squares(sqnorm, what="features"):
    """Raise ValueError if squared norms overflow in sum, naming the item of the largest."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(sqnorm)
    if not np.isfinite(total):
        raise ValueError(
            f"the {what} in X are too large: their squares overflow; the largest are in "
            f"X[{np.argmax(sqnorm)}]"
        )


@dataclass(frozen=True)
class FeatureScale:
    """How large features are: sums over samples; those of parts of the data add up.

    Attributes
    ----------
    squares : float
        Sum of the squared norms of the rows of all samples, each times the weight of its sample.
    rows : float
        Sum of the weights of the samples over all rows.
    weight : float
        Sum of the weights of the samples.
    """

    squares: float
    rows: float
    weight: float

    @classmethod
    def of(cls, sqnorm, weight=None, n_rows=1.0):
        """Return how large the features of samples are.

        Parameters
        ----------
        sqnorm : array-like of shape (n,)
            The squared norms of the rows of each sample, added up.
        weight : ndarray of shape (n,), default=None
            Weights of the samples; None means 1 for each.
        n_rows : float or ndarray of shape (n,), default=1.0
            How many rows samples have.

        Returns
        -------
        scale : FeatureScale
            Of all samples.

        Raises
        ------
        ValueError
            Naming the sample with the largest features, if their squares overflow in sum.
        """
        check_squares(sqnorm)
        weight = np.ones(len(sqnorm)) if weight is None else weight
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.multiply(sqnorm, weight).sum(), np.multiply(n_rows, weight).sum()
        return cls(*map(float, sums), float(weight.sum()))

    def __add__(self, other):
        """Return the sums over the samples of both."""
        rows, weight = self.rows + other.rows, self.weight + other.weight
        return FeatureScale(self.squares + other.squares, rows, weight)

    def weighted(self, factor):
        """Return the sums with all weights multiplied by a factor."""
        return FeatureScale(factor * self.squares, factor * self.rows, factor * self.weight)

    def of_norm(self, mean):
        """Return what this would be if rows had another mean squared norm."""
        return replace(self, squares=mean * self.rows)

    def times(self, factor):
        """Return factor R^2, with R^2 the mean squared norm of a row; 1 if all features are zero.

        A lam in proportion to it lets the scale of the features cancel.
        """
        mean = self.squares / self.rows if self.rows else np.nan
        return float(factor * mean or 1.0)
