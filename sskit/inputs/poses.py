"""Distances between poses, in torsos."""

import numbers

import numpy as np

from sskit._numbers import array
from sskit.inputs.ragged import _items

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


def part_errors(truth, found, torso):
    """Return how far off the parts are.

    Parameters
    ----------
    truth, found : ndarray of shape (n, n_parts, 2)
        x and y of the parts, true and found.
    torso : tuple of two int or None
        As of `pose_scales`.

    Returns
    -------
    errors : ndarray of shape (n, n_parts)
        Distances, in units of the true torsos.
    """
    return np.linalg.norm(found - truth, axis=2) / pose_scales(truth, torso)[:, None]


def check_poses(y, name, n_parts=None):
    """Return poses as one array, checked.

    Parameters
    ----------
    y : sequence of n arrays of shape (n_parts, 2), or array of three dimensions
        x and y of the parts.
    name : str
        What error messages call them.
    n_parts : int, default=None
        How many parts there must be; None takes as many as the first pose has.

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
    if isinstance(y, np.ndarray) and y.ndim == 3:
        y = list(y)
    items = _items(y, name, _POSES)
    if not len(items):
        raise ValueError(f"Found array with 0 sample(s): {name} must hold one pose or more")
    poses = []
    for i, item in enumerate(items):
        shape = ("n_parts" if n_parts is None else n_parts, 2)
        pose = array(item, f"{name}[{i}]", shape, low=-LARGEST_PLACE, high=LARGEST_PLACE)
        n_parts = len(pose)
        if not n_parts:
            raise ValueError(f"{name}[{i}] must have one part or more")
        poses.append(pose)
    return np.stack(poses)


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
    number = {} if names is None else {name: k for k, name in enumerate(names)}
    given = torso if isinstance(torso, (tuple, list, np.ndarray)) and np.iterable(torso) else ()
    parts = [number.get(k, k) if isinstance(k, str) else k for k in given]
    if (
        len(parts) != 2
        or any(isinstance(k, bool) or not isinstance(k, numbers.Integral) for k in parts)
        or any(not 0 <= k < n_parts for k in parts)
        or parts[0] == parts[1]
    ):
        raise ValueError(
            f"torso must be two different parts from 0 to {n_parts - 1}, got {torso!r}"
        )
    return tuple(parts)
