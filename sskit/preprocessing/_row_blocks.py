"""Scalers that are given rows a block at a time, so that they make no copy in double precision."""

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils import gen_batches

# These say the same of rows whether they get them at once or in parts.
_IN_PARTS = (MaxAbsScaler, MinMaxScaler, StandardScaler)
# Entries of a block, 4 MiB in double precision, and of an array of float64 that is given at once.
_BLOCK_ENTRIES = 2**19
_WHOLE_ENTRIES = 2**22


def goes_in_blocks(transformer, rows):
    """Return whether a transformer is given an array of rows a block at a time.

    Parameters
    ----------
    transformer : estimator
        Anything.
    rows : object
        What it is to transform.

    Returns
    -------
    in_blocks : bool
        For scalers, whether the rows are an ndarray of float32, float16 or many float64.
    """
    if type(transformer) not in _IN_PARTS or not isinstance(rows, np.ndarray):
        return False
    if rows.dtype == np.float64:
        return rows.size > _WHOLE_ENTRIES
    return rows.dtype in (np.float32, np.float16)


def fit_in_blocks(transformer, rows):
    """Fit a scaler to rows of which a block at a time is made float64.

    Parameters
    ----------
    transformer : estimator
        Changed.
    rows : ndarray of shape (n_rows, n_columns)
        Not changed.

    Returns
    -------
    transformer : estimator
        The same one.
    """
    for block in _blocks(rows):
        transformer.partial_fit(rows[block].astype(np.float64))
    return transformer


def transform_in_blocks(transformer, rows):
    """Return rows transformed by a fitted scaler, of the type that they have.

    Parameters
    ----------
    transformer : estimator
        Fitted.
    rows : ndarray of shape (n_rows, n_columns)
        Not changed.

    Returns
    -------
    transformed : ndarray of shape (n_rows, n_columns)
        Computed in double precision, and rounded once.
    """
    out = np.empty(rows.shape, dtype=rows.dtype)
    for block in _blocks(rows):
        out[block] = transformer.transform(rows[block].astype(np.float64))
    return out


def _blocks(rows):
    """Return slices of the rows."""
    return gen_batches(len(rows), max(1, _BLOCK_ENTRIES // max(rows.shape[1], 1)))
