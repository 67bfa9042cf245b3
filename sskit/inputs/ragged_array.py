"""RaggedArray: sequences of unequal length as one object."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, SupportsIndex, overload

import numpy as np
import scipy.sparse as sp

from sskit._labels import object_array
from sskit._numbers import array, checked_csr
from sskit._types import ArrayLike

_ARRAYS = {"data", "indices", "indptr", "_shape"}
_ATTRIBUTES = {}  # of empty CSR matrices, by their type


class RaggedArray:
    """Hold a list of sequences as one stacked matrix.

    Sequence ``i`` consists of the rows ``offsets[i]:offsets[i + 1]`` of `values`. The object
    behaves as a list of matrices, and scikit-learn's tools (``train_test_split``,
    ``GridSearchCV``, ...) treat it like a list: a *sample* is a sequence.

    Parameters
    ----------
    values : ndarray or CSR matrix of shape (N, p), or ndarray of shape (N,)
        The rows of all sequences, one below the other, or one label per row. Not copied.
    offsets : array-like of int of shape (n + 1,)
        Where the sequences begin; starts with 0, never decreases, ends with N. Copied.

    Raises
    ------
    ValueError
        If `values` is not one- or two-dimensional, or `offsets` are not integers that divide it.

    Notes
    -----
    ``a[i]`` is a view of the rows of one sequence; writing to it writes to ``a.values``. A slice,
    an integer array, a mask or a list of indices gives another RaggedArray.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.utils import RaggedArray
    >>> a = RaggedArray(np.arange(10.0).reshape(5, 2), [0, 2, 5])
    >>> a
    RaggedArray(2 sequences, values: float64 of shape (5, 2))
    >>> len(a), a.lengths
    (2, array([2, 3]))
    >>> a[0]
    array([[0., 1.],
           [2., 3.]])
    >>> a[[1, 1]].offsets
    array([0, 3, 6])
    """

    ndim = 1

    def __init__(self, values: ArrayLike, offsets: ArrayLike) -> None:
        if not sp.issparse(values):
            values = np.asarray(values)
        elif values.format != "csr":
            plane = len(values.shape) == 2
            values = checked_csr(values, "values") if plane else values.tocsr()
        dim = len(values.shape)
        if dim not in (1, 2):
            raise ValueError(f"values must be one- or two-dimensional, got {dim} dimensions")
        offsets = array(offsets, "offsets", ("n + 1",), "integers", low=0).astype(np.int64)
        if offsets[0] or offsets[-1] != values.shape[0] or (np.diff(offsets) < 0).any():
            raise ValueError(
                f"offsets must start with 0, never fall and end with {values.shape[0]}, the number "
                f"of rows, got {offsets}"
            )
        offsets.flags.writeable = False
        self._values = values
        self._offsets = offsets

    @property
    def values(self) -> Any:
        """The stacked rows, an ndarray or a CSR matrix."""
        return self._values

    @property
    def offsets(self) -> np.ndarray:
        """Where the sequences begin, read-only int64 of shape (n + 1,)."""
        return self._offsets

    @property
    def lengths(self) -> np.ndarray:
        """The number of rows of every sequence, int64 of shape (n,)."""
        return np.diff(self._offsets)

    @property
    def shape(self) -> tuple[int]:
        """The number of sequences, as a tuple of one integer."""
        return (len(self),)

    def __len__(self) -> int:
        return self._offsets.size - 1

    def __repr__(self):
        kind = "CSR " if sp.issparse(self._values) else ""
        noun = "sequence" if len(self) == 1 else "sequences"
        return (
            f"RaggedArray({len(self)} {noun}, "
            f"values: {kind}{self._values.dtype} of shape {tuple(self._values.shape)})"
        )

    def __sizeof__(self):
        # Dask sends an object of so many bytes only once
        values = self._values
        arrays = [values.data, values.indices, values.indptr] if sp.issparse(values) else [values]
        return object.__sizeof__(self) + sum(a.nbytes for a in [*arrays, self._offsets])

    def __reduce__(self):
        return type(self), (self._values, self._offsets)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"a RaggedArray converts to an array of objects only, not to {dtype}")
        return split(self._values, self._offsets)

    def __iter__(self):
        return (self._rows(a, b) for a, b in pairwise(self._offsets.tolist()))

    @overload
    def __getitem__(self, key: SupportsIndex) -> Any: ...

    @overload
    def __getitem__(self, key: slice | Sequence[Any] | np.ndarray) -> RaggedArray: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and key.step in (None, 1):
            start, stop, _ = key.indices(len(self))
            offsets = self._offsets[start : max(start, stop) + 1]
            return type(self)(self._rows(offsets[0], offsets[-1]), offsets - offsets[0])
        # NumPy's own checks, which take (key, Ellipsis) too, by which scikit-learn indexes
        positions = np.arange(len(self))[key]
        if positions.ndim > 1:
            raise IndexError("a RaggedArray has one axis, the sequences")
        if not positions.ndim:
            return self._rows(*self._offsets[positions : positions + 2].tolist())
        lengths = self.lengths[positions]
        offsets = make_offsets(lengths)
        starts = self._offsets[:-1][positions]
        rows = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        return type(self)(self._values[rows], offsets)

    def _rows(self, a, b):
        """Return the rows a:b; for CSR a matrix with the same data and indices, no copies."""
        values = self._values
        if not sp.issparse(values):
            return values[a:b]
        first, last = values.indptr[a], values.indptr[b]
        indptr = values.indptr[a : b + 1] - first
        arrays = values.data[first:last], values.indices[first:last], indptr
        return make_csr(*arrays, (b - a, values.shape[1]), type(values))


class SoundArray(RaggedArray):
    """A RaggedArray of finite floats, in canonical format if they are sparse, unchecked.

    Only for arrays that were just made so and that no user can change.
    """


def one_sequence(values, kind=RaggedArray):
    """Return an ndarray or CSR matrix with rows as a RaggedArray of one, which is not checked."""
    return of_sound_parts(values, np.array([0, values.shape[0]], dtype=np.int64), kind)


def of_sound_parts(values, offsets, kind=RaggedArray):
    """Return a RaggedArray of rows and int64 offsets that are known to fit, unchecked."""
    ragged = object.__new__(kind)
    offsets.flags.writeable = False
    ragged._values, ragged._offsets = values, offsets
    return ragged


def make_csr(data, indices, indptr, shape, kind=sp.csr_array):
    """Return the CSR matrix of sound arrays, which SciPy does not check again.

    Its constructor takes longer than a sentence to label. Where an empty matrix has other
    attributes than those known, the constructor is called after all.
    """
    attributes = _ATTRIBUTES.get(kind)
    if attributes is None:
        empty = vars(kind((0, 0)))
        attributes = empty.copy() if empty.keys() >= _ARRAYS else {}
        _ATTRIBUTES[kind] = attributes
    if not attributes:
        return kind((data, indices, indptr), shape=shape)
    matrix = kind.__new__(kind)
    vars(matrix).update(attributes, data=data, indices=indices, indptr=indptr, _shape=shape)
    return matrix


def split(flat, offsets):
    """Split stacked rows into a one-dimensional object array of sequences.

    Parameters
    ----------
    flat : ndarray, list or CSR matrix with N rows
        One entry or row per token.
    offsets : array-like of int of shape (n + 1,)
        Where the sequences begin.

    Returns
    -------
    pieces : ndarray of object of shape (n,)
        ``pieces[i]`` is ``flat[offsets[i]:offsets[i + 1]]``, a view where `flat` is an ndarray.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.inputs.ragged import split
    >>> split(np.array(["a", "b", "c", "d"]), [0, 2, 4])
    array([array(['a', 'b'], dtype='<U1'), array(['c', 'd'], dtype='<U1')],
          dtype=object)
    """
    if len(offsets) == 2:
        return object_array([flat[offsets[0] : offsets[1]]])
    return object_array([flat[a:b] for a, b in pairwise(np.asarray(offsets).tolist())])


def stretches(data, known):
    """Return some rows of sequences, each stretch of neighbours as a sequence of its own.

    Parameters
    ----------
    data : RaggedArray
        Sequences, none of them empty.
    known : ndarray of shape (N,), bool
        Which rows.

    Returns
    -------
    parts : RaggedArray
        The stretches, in order.
    owners : ndarray of shape (n_parts,)
        The sequence of each.
    """
    begins, first = known & ~np.append(False, known[:-1]), data.offsets[:-1]
    begins[first] = known[first]
    rows = np.flatnonzero(known)
    owners = np.searchsorted(data.offsets, np.flatnonzero(begins), side="right") - 1
    offsets = np.append(np.flatnonzero(begins[rows]), len(rows))
    return RaggedArray(data.values[rows], offsets), owners


def make_offsets(lengths):
    """Return where pieces of these lengths begin, int64 with the total at the end."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.add.accumulate(lengths, out=offsets[1:])
    return offsets


def row_namer(name, offsets):
    """Return a function of a row of stacked sequences: what error messages call it."""
    return lambda row: "{}[{}][{}]".format(name, *locate(offsets, row))


def locate(offsets, row):
    """Return the sequence that a stacked row belongs to and its place therein."""
    i = int(np.searchsorted(offsets, row, side="right")) - 1
    return i, int(row - offsets[i])
