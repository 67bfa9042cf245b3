"""Answers of structures written in Python: calls for them, their validation, and their keys."""

import pickle

import numpy as np
import scipy.sparse as sp

from sskit._cures import raise_noted
from sskit.inputs.stacking import sound_csr

# Squares of larger numbers, and their sums, overflow.
LARGEST = 1e150

PLAIN = {bool, bytes, float, int, str, type(None), np.bool_, np.float64, np.int32, np.int64}


def call_method(model, name, sample, *args):
    """Call a method of a user's structure; its exceptions get the name of the sample.

    Parameters
    ----------
    model : object
        The structure.
    name : str
        Of the method.
    sample : str
        Description of the sample, for the note.
    *args : object
        Arguments of the method.

    Returns
    -------
    answer : object
        What the method returns.
    """
    try:
        return getattr(model, name)(*args)
    except Exception as error:
        note = f"raised by {name} of {type(model).__name__} for {sample}"
        if name in ("joint_feature", "loss"):  # often argmax has returned a wrong labelling
            note += f" and the labelling {args[-1]!r:.80}"
        raise_noted(error, note)


def checked_loss(loss, sample):
    """Return a loss as a float; raise ValueError unless it is finite and not negative."""
    try:
        # a masked entry would become NaN, with a warning
        if np.ndim(loss) or isinstance(loss, (str, bytes, complex)) or loss is np.ma.masked:
            raise TypeError
        value = float(loss)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"loss of {sample} is {loss!r:.80}, expected a number") from None
    if not 0.0 <= value <= LARGEST:
        limit = "" if value < 0.0 or not np.isfinite(value) else f" up to {LARGEST:g}"
        raise ValueError(f"loss of {sample} is {value}, expected a finite number >= 0{limit}")
    return value


def label_key(y):
    """Return a hashable that is equal for equal labellings.

    Parameters
    ----------
    y : object
        A labelling.

    Returns
    -------
    key : hashable
        The labelling itself if it is hashable by its value; an array by dtype, shape and bytes;
        lists and tuples item by item; anything else as it is pickled.
    """
    if isinstance(y, np.ndarray) and not y.dtype.hasobject:
        # plain values, which are saved without pickle
        kind = y.dtype.str if y.dtype.names is None else str(y.dtype)
        return "ndarray", kind, y.shape, y.tobytes()
    if isinstance(y, (list, tuple)):
        return type(y), tuple(y) if {*map(type, y)} <= PLAIN else tuple(map(label_key, y))
    if type(y).__hash__ not in (None, object.__hash__):
        try:
            hash(y)
        except TypeError:
            pass
        else:
            return y
    return type(y), pickle.dumps(y)


def feature_vector(phi, i):
    """Return the joint feature of sample i as an array or sparse matrix that is a vector.

    Parameters
    ----------
    phi : object
        What ``joint_feature`` returned.
    i : int
        Number of the sample.

    Returns
    -------
    phi : ndarray of shape (n,), or sparse vector or matrix of one row or column
        Of numbers, which may be infinite.

    Raises
    ------
    ValueError
        If it is none.
    """
    name, is_sparse = f"joint_feature of sample {i}", sp.issparse(phi)
    try:
        vector = phi if is_sparse else np.asarray(phi)
    except ValueError:
        vector = np.array(None)
    if vector.dtype.kind not in "biuf":
        what = str(vector.dtype) if is_sparse else repr(phi)
        raise ValueError(f"{name} does not hold numbers: {what:.80}")
    if len(vector.shape) != 1 and not (is_sparse and len(vector.shape) == 2 and 1 in vector.shape):
        raise ValueError(
            f"{name} has shape {vector.shape}, expected a vector: a 1-D array or a sparse row"
        )
    return sound_csr(vector, name) if len(vector.shape) == 2 else vector


def checked_entries(phi, i, n_weights):
    """Return the entries of a joint feature, checked: finite numbers that can be squared.

    Parameters
    ----------
    phi : object
        What ``joint_feature`` returned.
    i : int
        Number of the sample.
    n_weights : int
        Length that it must have.

    Returns
    -------
    index : ndarray, int32
        Strictly increasing.
    value : ndarray, float64
        The entries there.

    Raises
    ------
    ValueError
        If it is no such vector.
    """
    phi = feature_vector(phi, i)
    length = int(np.prod(phi.shape))
    if length != n_weights:
        raise ValueError(f"joint_feature of sample {i} has length {length}, expected {n_weights}")
    index, value = _entries(phi)
    with np.errstate(over="ignore"):
        value = value.astype(np.float64)
    wrong = np.flatnonzero(~(np.abs(value) <= LARGEST))
    if wrong.size:
        j, entry = int(index[wrong[0]]), value[wrong[0]]
        what = f"{entry:g}, whose square overflows," if np.isfinite(entry) else "not finite"
        raise ValueError(f"joint_feature of sample {i} is {what} at {j}")
    return index.astype(np.int32), value


def _entries(phi):
    """Return (index, value) of the entries of a vector that are not zero, in order."""
    if not sp.issparse(phi):
        index = np.flatnonzero(phi)
        return index, phi[index]
    row = sp.csr_array(phi.reshape((1, -1)), copy=True)
    row.sum_duplicates()
    row.eliminate_zeros()
    return row.indices, row.data
