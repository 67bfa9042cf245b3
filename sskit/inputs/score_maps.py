"""The gate of estimators of parts: check score maps and positions once."""

from collections.abc import Mapping

import numpy as np

from sskit._numbers import array, as_array
from sskit.inputs.ragged import _items

__all__ = ["check_positions", "check_score_maps"]

# Sums of weighted scores above it may overflow.
LARGEST = 1e150
_MAPS = "one array of score maps (n_parts, H, W) per sample"
_POSITIONS = "one array of positions (n_parts, 2) per sample"


def check_score_maps(X, n_parts, names=None):
    """Check score maps.

    Parameters
    ----------
    X : sequence of n samples, or array of four dimensions
        Scores of the parts at the cells of a grid: arrays of shape (n_parts, H_i, W_i), or dicts
        of arrays (H_i, W_i) by the names of the parts. Never modified.
    n_parts : int
        How many maps a sample must have.
    names : sequence of n_parts str, default=None
        Names of the parts; None means that they have none, and that there must not be dicts.

    Returns
    -------
    maps : list of n ndarrays of shape (n_parts, H_i, W_i)
        In C order. Arrays of dtype float32 and float64 in C order are not copied.

    Raises
    ------
    TypeError
        If X is of a wholly wrong type.
    ValueError
        Naming the sample: if there are none, shapes do not fit, a score is not finite, or a dict
        lacks a part or has one too many.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.inputs.score_maps import check_score_maps
    >>> check_score_maps([np.zeros((3, 4, 5))], n_parts=3)[0].shape
    (3, 4, 5)
    """
    if isinstance(X, np.ndarray) and X.ndim == 4:
        X = list(X)
    maps = [
        _map(by_part(x, f"X[{i}]", names, "map"), f"X[{i}]", n_parts)
        for i, x in enumerate(_items(X, "X", _MAPS))
    ]
    if not maps:
        raise ValueError("Found array with 0 sample(s): X must hold one sample or more")
    return maps


def check_positions(y, maps, names=None):
    """Check positions of parts.

    Parameters
    ----------
    y : sequence of n samples, or array of three dimensions
        x and y of each part, in cells of its maps: the middle of the first cell is (0, 0).
        Arrays of shape (n_parts, 2), or dicts of pairs by the names of the parts. Rounded to
        whole cells. Never modified.
    maps : list of n ndarrays of shape (n_parts, H_i, W_i)
        Score maps, checked.
    names : sequence of n_parts str, default=None
        As of `check_score_maps`.

    Returns
    -------
    places : ndarray of shape (n, n_parts, 2), int64
        x and y of cells.

    Raises
    ------
    TypeError
        If y is of a wholly wrong type.
    ValueError
        Naming the sample and part: if shapes do not fit, or a position is not finite or not in
        the maps.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.inputs.score_maps import check_positions
    >>> check_positions([[[2.2, 0.0]]], [np.zeros((1, 3, 4))])
    array([[[2, 0]]])
    """
    if isinstance(y, np.ndarray) and y.ndim == 3:
        y = list(y)
    items = _items(y, "y", _POSITIONS)
    if len(items) != len(maps):
        raise ValueError(f"X has {len(maps)} samples but y has {len(items)}")
    places = np.empty((len(maps), len(maps[0]), 2), dtype=np.int64)
    for i, (item, scores) in enumerate(zip(items, maps, strict=True)):
        positions = by_part(item, f"y[{i}]", names, "position")
        positions = array(positions, f"y[{i}]", places.shape[1:])
        n_rows, n_columns = scores.shape[1:]
        rounded = np.rint(positions)
        inside = (rounded >= 0) & (rounded < [n_columns, n_rows])
        wrong = np.flatnonzero(~inside.all(axis=1))
        if wrong.size:
            x, y_ = positions[wrong[0]]
            raise ValueError(
                f"y[{i}][{wrong[0]}] is ({x:g}, {y_:g}), which is not in the {n_columns} columns "
                f"and {n_rows} rows of X[{i}]"
            )
        places[i] = rounded
    return places


def check_part_names(names, n_parts):
    """Return the names of parts, checked.

    Parameters
    ----------
    names : sequence of n_parts str, or None
        As users give them.
    n_parts : int
        Number of parts.

    Returns
    -------
    names : ndarray of shape (n_parts,), object, or None
        A copy.

    Raises
    ------
    ValueError
        If they are not as many different strings as parts.
    """
    if names is None:
        return None
    found = list(names) if np.iterable(names) else [names]
    if len(found) != n_parts or not all(isinstance(name, str) for name in found):
        raise ValueError(f"part_names must be {n_parts} strings, one for each part, got {found!r}")
    if len(set(found)) < n_parts:
        raise ValueError(f"part_names must be different strings, got {found!r}")
    return np.array(found, dtype=object)


def by_part(item, label, names, noun):
    """Return what a dict has for the parts as an array in their order; other items as they are.

    Parameters
    ----------
    item : object
        What a sample has for its parts.
    label : str
        What error messages call it.
    names : sequence of str or None
        Names of the parts.
    noun : str
        What error messages call a value of the dict.

    Returns
    -------
    item : object
        An array; or what was given.

    Raises
    ------
    ValueError
        Naming the part that is missing, unknown or of another shape than the first.
    """
    if not isinstance(item, Mapping):
        return item
    if names is None:
        raise ValueError(f"{label} is a dict, but the parts have no names: set part_names")
    if set(item) != set(names):
        wrong = sorted(set(item) ^ set(names), key=str)[0]
        raise ValueError(f"{label} must have a {noun} of each part and no other, see {wrong!r}")
    return as_array([item[name] for name in names], label)


def _map(x, label, n_parts):
    """Return checked score maps of one sample."""
    scores = as_array(x, label)
    if scores.ndim != 3 or 0 in scores.shape or len(scores) != n_parts:
        raise ValueError(
            f"{label} must have shape ({n_parts}, H, W), a score map for each part, got "
            f"{scores.shape}"
        )
    if scores.dtype not in (np.float32, np.float64) or not float(np.abs(scores).max()) <= LARGEST:
        scores = array(scores, label, scores.shape, low=-LARGEST, high=LARGEST)
    return np.ascontiguousarray(scores)
