"""Matrices of many sequences, stacked and checked."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sskit._ready import all_finite, is_canonical
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
    if not sound:
        return False
    n_rows, width = values.shape
    return n_rows > 0 and (width == n_features if n_features else width > 0)


def common_dtype(dtypes):
    """Return the smallest type of floats that holds all numbers of other types: float64 if unsure.

    Parameters
    ----------
    dtypes : iterable of dtype
        Of numbers.

    Returns
    -------
    dtype : dtype
        float16 or float32 if there is nothing but these, in the order of bytes of this machine.
    """
    dtypes = set(dtypes)
    return np.result_type(*dtypes) if dtypes and dtypes <= set(FLOATS) else FLOATS[0]


def as_it_is_read(matrix, *, owned):
    """Return an array in C order, or canonical CSR matrix, of floats; itself if it is so."""
    if sp.issparse(matrix):
        return canonical_csr(matrix, owned=owned)
    return np.ascontiguousarray(matrix, dtype=common_dtype([matrix.dtype]))


def stack_rows(pieces):
    """Concatenate matrices of features, dense or sparse: into CSR if any is sparse."""
    return (stack_csr if any(map(sp.issparse, pieces)) else stack_dense)(list(pieces))


def stack_dense(pieces):
    """Concatenate 2-D arrays into one that is C-contiguous, of their `common_dtype`.

    Nothing is copied if they lie one after the other in one array already.
    """
    whole = _joined_where_they_lie(pieces)
    if whole is not None:
        return whole
    dtype = common_dtype(piece.dtype for piece in pieces)
    # Without `out` the result of pieces in Fortran order would be in Fortran order.
    out = np.empty((sum(piece.shape[0] for piece in pieces), pieces[0].shape[1]), dtype=dtype)
    return np.concatenate(pieces, axis=0, out=out, casting="unsafe")


def _joined_where_they_lie(pieces):
    """Return consecutive slices of one array as one, or None if they are not such."""
    first = pieces[0]
    if first.base is None or first.dtype not in FLOATS:
        return None
    owner, place, n_rows = _owner(first), first.ctypes.data, 0
    for piece in pieces:
        if (
            _owner(piece) is not owner
            or piece.dtype != first.dtype
            or not piece.flags.c_contiguous
            or piece.ctypes.data != place
        ):
            return None
        place += piece.nbytes
        n_rows += piece.shape[0]
    # all memory in between is that of the array they are slices of
    return np.lib.stride_tricks.as_strided(
        first, (n_rows, first.shape[1]), first.strides, writeable=False
    )


def _owner(array):
    """Return the array whose memory another one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def stack_csr(pieces):
    """Concatenate CSR matrices and 2-D arrays into a new CSR array of float64 or float32."""
    numbers = common_dtype(piece.dtype for piece in pieces)
    numbers = np.float32 if numbers == np.float16 else numbers
    pieces = [
        _without_slack(piece) if sp.issparse(piece) else sp.csr_array(piece.astype(numbers))
        for piece in pieces
    ]
    stacked = sp.vstack(pieces, format="csr")
    index = np.int32 if max(stacked.nnz, stacked.shape[1]) < 2**31 else np.int64
    indices, indptr = (a.astype(index, copy=False) for a in (stacked.indices, stacked.indptr))
    data = stacked.data.astype(numbers, copy=False)
    return sp.csr_array((data, indices, indptr), shape=stacked.shape)


def _without_slack(csr):
    """Return a CSR matrix whose arrays end with its last entry."""
    if csr.indptr[-1] < max(len(csr.data), len(csr.indices)):
        csr = csr.copy()
        csr.prune()
    return csr


def canonical_csr(csr, *, owned):
    """Return a valid CSR matrix in canonical format, float64 or float32.

    The matrix itself is returned if it is so already; only an `owned` one is changed in place.
    """
    dtype = common_dtype([csr.dtype])
    known = (np.int32, np.int64)
    if csr.dtype != dtype or csr.indices.dtype not in known or csr.indptr.dtype not in known:
        data = csr.data.astype(dtype, copy=False)
        indices, indptr = (
            a if a.dtype in known else a.astype(np.int64) for a in (csr.indices, csr.indptr)
        )
        csr = type(csr)((data, indices, indptr), shape=csr.shape)
    if not csr.has_canonical_format:
        csr = csr if owned else csr.copy()
        csr.sum_duplicates()
    return csr


def check_structure(matrix, name):
    """Raise ValueError if the index arrays of a sparse matrix do not describe one.

    SciPy trusts them, and reads and writes elsewhere.

    Parameters
    ----------
    matrix : sparse matrix or array
        Of any format, two-dimensional.
    name : str
        What it is, for error messages.
    """
    kind, shape = type(matrix), matrix.shape
    if matrix.format == "csr" and is_canonical(matrix):
        return
    try:
        if matrix.format == "coo":
            kind((matrix.data, (matrix.row, matrix.col)), shape=shape)
        elif matrix.format in ("csr", "csc", "bsr"):
            again = kind((matrix.data, matrix.indices, matrix.indptr), shape=shape)
            again.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{name} is a broken {matrix.format.upper()} matrix: {error}") from None


def check_finite(values, name, offsets=None):
    """Raise at the first NaN or infinity, naming sequence, row and column."""
    found = first_not_finite(values)
    if found is not None:
        row, column, what = found
        if offsets is not None:
            i, row = locate(offsets, row)
            name = f"{name}[{i}]"
        raise ValueError(f"{name} contains {what} at row {row}, column {column}")


def first_not_finite(values):
    """Return row, column and name of the first NaN or infinity of a matrix, or None."""
    flat = values.data[: values.nnz] if sp.issparse(values) else values.reshape(-1)
    flat = np.asarray(flat)
    bad = [] if all_finite(flat) else np.flatnonzero(~np.isfinite(flat))
    if not len(bad):
        return None
    what = "NaN" if np.isnan(flat[bad[0]]) else "infinity"
    if sp.issparse(values):
        row = np.searchsorted(values.indptr, bad[0], side="right") - 1
        return row, values.indices[bad[0]], what
    return *divmod(bad[0], values.shape[1]), what


def refuse_large(sqnorm, name="X", what="the features in"):
    """Raise ValueError because squared norms overflow in sum, naming the item of the largest."""
    raise ValueError(
        f"{what} {name} are too large: their squares overflow; the largest are in "
        f"{name}[{np.argmax(sqnorm)}]"
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
        weight = np.ones(len(sqnorm)) if weight is None else weight
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.multiply(sqnorm, weight).sum()
            scale = cls(squares, np.multiply(n_rows, weight).sum(), float(weight.sum()))
            total = np.sum(sqnorm)
        # the samples of a part may all have the weight zero; too large weights are found elsewhere
        if not (np.isfinite(total) or np.isfinite(scale.mean if scale.rows > 0 else squares)):
            refuse_large(sqnorm)
        return scale

    def __add__(self, other):
        """Return the sums over the samples of both."""
        with np.errstate(over="ignore"):
            squares = self.squares + other.squares
        return FeatureScale(squares, self.rows + other.rows, self.weight + other.weight)

    def of_norm(self, mean):
        """Return what this would be if rows had another mean squared norm."""
        return replace(self, squares=mean * self.rows)

    @property
    def mean(self):
        """Mean squared norm of a row."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.squares / self.rows

    def times(self, factor):
        """Return factor R^2, with R^2 the mean squared norm of a row; 1 if all features are zero.

        A lam in proportion to it lets the scale of the features cancel.
        """
        return float(factor * self.mean or 1.0)
