"""Checks of score maps and of poses, and distances between poses in torsos."""

from collections.abc import Mapping

import numpy as np

from sskit._numbers import array, as_array, shortened
from sskit.inputs.ragged import items_of
from sskit.inputs.stacking import FLOATS

# Squares of larger numbers overflow.
LARGEST_PLACE = 1e150
_POSES = "one array of positions (n_parts, 2) per sample"


def pose_scales(places, torso):
    """Return the unit of distances in each pose.

    Parameters
    ----------
    places : ndarray of shape (n, n_parts, 2)
        x and y of the parts, in cells.
    torso : tuple of two int or None
        Parts whose distance it is; None takes the longer side of the box around all parts.

    Returns
    -------
    scale : ndarray of shape (n,), float64
        In cells, at least one.
    """
    if torso is None:
        scale = np.ptp(places, axis=1).max(axis=1)
    else:
        scale = np.linalg.norm(places[:, torso[0]] - places[:, torso[1]], axis=1)
    return np.maximum(scale.astype(np.float64), 1.0)


def part_errors(truth, pred, torso):
    """Return how far off the parts are.

    Parameters
    ----------
    truth, pred : ndarray of shape (n, n_parts, 2)
        x and y of the parts, true and predicted.
    torso : tuple of two int or None
        As of `pose_scales`.

    Returns
    -------
    errors : ndarray of shape (n, n_parts)
        Distances, in units of the true torsos.
    """
    return np.linalg.norm(pred - truth, axis=2) / pose_scales(truth, torso)[:, None]


def check_poses(y, name, n_parts=None, names=None, *, count=None, x_name="X"):
    """Return poses as one array, checked.

    Parameters
    ----------
    y : sequence of n arrays of shape (n_parts, 2), or array of three dimensions
        x and y of the parts; with `names` also dicts of pairs by these.
    name : str
        What error messages call them.
    n_parts : int, default=None
        How many parts there must be; None takes as many as the first pose has.
    names : sequence of n_parts str, default=None
        Names of the parts.
    count, x_name : int and str, default=None, "X"
        As of `items_of`.

    Returns
    -------
    poses : ndarray of shape (n, n_parts, 2), float64
        Of its own.

    Raises
    ------
    TypeError
        If `y` is of a wholly wrong type.
    ValueError
        If there are no poses, or one has not the shape of the others or holds what is not a
        finite number; it is named.
    """
    poses = []
    items = items_of(y, name, _POSES, stacked=(3,), count=count, x_name=x_name)
    for i, item in enumerate(items):
        item = by_part(item, f"{name}[{i}]", names, "position")
        shape = ("n_parts" if n_parts is None else n_parts, 2)
        pose = array(item, f"{name}[{i}]", shape, low=-LARGEST_PLACE, high=LARGEST_PLACE)
        n_parts = len(pose)
        poses.append(pose)
    return np.stack(poses)


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
    if names is None or set(item) != set(names):
        raise ValueError(
            f"{label} must have a {noun} of each part in part_names={names!r} and no other, got "
            f"{shortened(list(item))}"
        )
    return as_array([item[name] for name in names], label)


def check_torso(torso, n_parts, names=None):
    """Return the two parts of the torso, checked, or None.

    Parameters
    ----------
    torso : sequence of two int or str, or None
        As users give it.
    n_parts : int
        Number of parts.
    names : sequence of n_parts str, default=None
        Names of the parts; None means that they have none.

    Returns
    -------
    torso : tuple of two int or None
        Two different parts.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if torso is None:
        return None
    number = {name: k for k, name in enumerate([] if names is None else names)}
    number |= {k: k for k in range(n_parts)}
    try:
        first, second = (number[k] for k in torso)
    except (KeyError, TypeError, ValueError):
        first = second = None
    if first == second:
        raise ValueError(
            f"torso must be two different parts from 0 to {n_parts - 1}, got {torso!r}"
        )
    return first, second


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
    >>> from sskit.inputs.poses import check_score_maps
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
    >>> from sskit.inputs.poses import check_positions
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
    listed = list(names) if np.iterable(names) else [names]
    strings = {name for name in listed if isinstance(name, str)}
    if not len(listed) == len(strings) == n_parts:
        raise ValueError(
            f"part_names must be {n_parts} different strings, one for each part, got {listed!r}"
        )
    return np.array(listed, dtype=object)


def _map(x, label, n_parts):
    """Return checked score maps of one sample."""
    scores, shape = as_array(x, label), (n_parts, "height", "width")
    sound = scores.ndim == 3 and len(scores) == n_parts and scores.size
    if not sound or scores.dtype not in FLOATS[:2] or not float(np.abs(scores).max()) <= LARGEST:
        scores = array(scores, label, shape, low=-LARGEST, high=LARGEST)
    return np.ascontiguousarray(scores)
