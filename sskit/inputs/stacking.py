"""Matrices of many sequences, stacked and checked."""

import numpy as np
import scipy.sparse as sp

from sskit._ready import all_within, is_canonical
from sskit.inputs.ragged_array import locate, make_offsets

_INT32_MAX = np.iinfo(np.int32).max


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
        Whether it is a C-contiguous ndarray or a canonical CSR matrix of finite float64.
    """
    kind = type(values)
    if kind is np.ndarray:
        sound = values.ndim == 2 and values.flags.c_contiguous and all_within(values)
    elif kind is sp.csr_matrix or kind is sp.csr_array:
        sound = values.ndim == 2 and is_canonical(values) and all_within(values.data)
    else:
        return False
    if not sound:
        return False
    n_rows, width = values.shape
    return n_rows > 0 and (width == n_features if n_features else width > 0)


def stack_dense(pieces):
    """Concatenate 2-D arrays into a new C-contiguous float64 array."""
    # Without `out` the result of pieces in Fortran order would be in Fortran order.
    out = np.empty((sum(piece.shape[0] for piece in pieces), pieces[0].shape[1]))
    return np.concatenate(pieces, axis=0, out=out, casting="unsafe")


def stack_csr(pieces):
    """Concatenate CSR matrices and 2-D arrays into a new CSR array of float64.

    Unlike scipy's vstack it converts while it copies, so that nothing is held twice.
    """
    pieces = [piece if sp.issparse(piece) else sp.csr_array(piece) for piece in pieces]
    ends = [int(piece.indptr[-1]) for piece in pieces]
    rows = [piece.shape[0] for piece in pieces]
    starts = make_offsets(ends)
    shape = (sum(rows), pieces[0].shape[1])
    index = np.int32 if max(starts[-1], shape[1]) <= _INT32_MAX else np.int64

    def join(name):
        arrays = [getattr(piece, name)[:end] for piece, end in zip(pieces, ends, strict=True)]
        dtype = np.float64 if name == "data" else index
        return np.concatenate(arrays, dtype=dtype, casting="unsafe")

    indptr = np.zeros(shape[0] + 1, dtype=index)
    np.concatenate([piece.indptr[1:] for piece in pieces], out=indptr[1:], casting="same_kind")
    indptr[1:] += np.repeat(starts[:-1], rows).astype(index, copy=False)
    return sp.csr_array((join("data"), join("indices"), indptr), shape=shape)


def canonical_csr(csr, *, owned):
    """Return a valid CSR matrix in canonical format, float64 with int32 indices if they fit.

    The matrix itself is returned if it is so already; only an `owned` one is changed in place.
    """
    index = np.int32 if max(csr.nnz, csr.shape[1]) <= _INT32_MAX else np.int64
    if csr.dtype != np.float64 or csr.indices.dtype != index or csr.indptr.dtype != index:
        data = csr.data.astype(np.float64, copy=False)
        indices, indptr = (a.astype(index, copy=False) for a in (csr.indices, csr.indptr))
        csr = type(csr)((data, indices, indptr), shape=csr.shape)
    if not csr.has_canonical_format:
        csr = csr if owned else csr.copy()
        csr.sum_duplicates()
    return csr


def check_structure(matrix, name, offsets=None):
    """Raise ValueError if the index arrays of a sparse matrix do not describe one.

    SciPy trusts them, and reads and writes elsewhere.

    Parameters
    ----------
    matrix : sparse matrix or array
        Of any format, two-dimensional.
    name : str
        What it is, for error messages.
    offsets : ndarray of int64 of shape (n + 1,), default=None
        Where the sequences begin of which the rows are; None if there is one.
    """
    broken = f"is a broken {matrix.format.upper()} matrix"
    kind = f"{name} {broken}"
    if matrix.format == "coo":
        for index, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            if len(index) != len(matrix.data) or not in_range(index, size):
                raise ValueError(f"{kind}: wrong indices")
    if matrix.format not in ("csr", "csc", "bsr"):
        return
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    n_major, n_minor = (size // step for size, step in zip(matrix.shape, block, strict=True))
    if matrix.format == "csc":
        n_major, n_minor = n_minor, n_major
    indptr, indices = matrix.indptr, matrix.indices
    n_entries = min(len(indices), len(matrix.data))
    if len(indptr) != n_major + 1 or indptr[0] != 0 or indptr[-1] > n_entries:
        raise ValueError(f"{kind}: its indptr does not go with its indices and data")
    falls = np.flatnonzero(np.diff(indptr) < 0)
    wrong = falls[:1]
    if not falls.size and not in_range(indices[: indptr[-1]], n_minor):
        wrong = np.flatnonzero((indices < 0) | (indices >= n_minor))[:1]
        wrong = np.searchsorted(indptr, wrong, side="right") - 1
    if wrong.size:
        line = "column" if matrix.format == "csc" else "row"
        i, t = (None, wrong[0]) if offsets is None else locate(offsets, wrong[0])
        kind = kind if i is None else f"{name}[{i}] {broken}"
        raise ValueError(f"{kind}: wrong indices in its {line} {t}")


def in_range(indices, size):
    """Return whether all indices are at least 0 and below a size."""
    return not len(indices) or (indices.min() >= 0 and indices.max() < size)


def check_finite(values, offsets, name):
    """Raise at the first NaN or infinity, naming sequence, row and column."""
    found = first_not_finite(values)
    if found is not None:
        row, column, what = found
        i, t = locate(offsets, row)
        raise ValueError(f"{name}[{i}] contains {what} at row {t}, column {column}")


def first_not_finite(values):
    """Return row, column and name of the first NaN or infinity of a matrix, or None."""
    flat = values.data[: values.nnz] if sp.issparse(values) else values.reshape(-1)
    # The sum of finite numbers is finite but for an overflow: one pass without a mask.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(flat.sum()):
            return None
    bad = np.flatnonzero(~np.isfinite(flat))
    if bad.size == 0:
        return None
    if sp.issparse(values):
        row = np.searchsorted(values.indptr, bad[0], side="right") - 1
        column = values.indices[bad[0]]
    else:
        row, column = divmod(bad[0], values.shape[1])
    return row, column, "NaN" if np.isnan(flat[bad[0]]) else "infinity"


def refuse_large(sqnorm, name="X", what="the features in"):
    """Raise ValueError because squared norms overflow in sum, naming the item of the largest."""
    raise ValueError(
        f"{what} {name} are too large: their squares overflow; the largest are in "
        f"{name}[{np.argmax(sqnorm)}]"
    )
