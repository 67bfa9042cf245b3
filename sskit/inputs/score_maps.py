"""The gate of estimators of parts: check score maps and positions once."""

import numpy as np

from sskit._numbers import array, as_array
from sskit.inputs.poses import by_part, check_poses
from sskit.inputs.ragged import items_of
from sskit.inputs.stacking import FLOATS

__all__ = ["check_positions", "check_score_maps"]

# Sums of weighted scores above it may overflow.
LARGEST = 1e150
_MAPS = "one array of score maps (n_parts, H, W) per sample"


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
    return [
        _map(by_part(x, f"X[{i}]", names, "map"), f"X[{i}]", n_parts)
        for i, x in enumerate(items_of(X, "X", _MAPS, stacked=(4,)))
    ]


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
    positions = check_poses(y, "y", len(maps[0]), names, count=len(maps))
    places = np.rint(positions)
    sizes = np.array([scores.shape[:0:-1] for scores in maps])
    for i, k in np.argwhere(((places < 0) | (places >= sizes[:, None])).any(axis=2))[:1]:
        (x, y), (n_columns, n_rows) = positions[i, k], sizes[i]
        raise ValueError(
            f"y[{i}][{k}] is ({x:g}, {y:g}), which is not in the {n_columns} columns and "
            f"{n_rows} rows of X[{i}]"
        )
    return places.astype(np.int64)


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
    strings = {name for name in found if isinstance(name, str)}
    if not len(found) == len(strings) == n_parts:
        raise ValueError(
            f"part_names must be {n_parts} different strings, one for each part, got {found!r}"
        )
    return np.array(found, dtype=object)


def _map(x, label, n_parts):
    """Return checked score maps of one sample."""
    scores, shape = as_array(x, label), (n_parts, "height", "width")
    sound = scores.ndim == 3 and len(scores) == n_parts and scores.size
    if not sound or scores.dtype not in FLOATS[:2] or not float(np.abs(scores).max()) <= LARGEST:
        scores = array(scores, label, shape, low=-LARGEST, high=LARGEST)
    return np.ascontiguousarray(scores)
