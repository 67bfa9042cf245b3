"""Poses: joints of people, and score maps made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from sskit._numbers import array
from sskit._types import ArrayLike, RandomState, Samples
from sskit.datasets._makers import check_counts, check_not_negative

# Joint, parent, and the limb between them in a standing person: length in torsos, direction in
# degrees (0 to the right, 90 down) and how much that varies. The order is that of the
# Leeds Sports Poses, which call sides as the person does.
_BODY = [
    ("right ankle", "right knee", 0.7, 92, 25),
    ("right knee", "right hip", 0.7, 95, 25),
    ("right hip", "right shoulder", 0.9, 82, 8),
    ("left hip", "left shoulder", 0.9, 98, 8),
    ("left knee", "left hip", 0.7, 85, 25),
    ("left ankle", "left knee", 0.7, 88, 25),
    ("right wrist", "right elbow", 0.45, 95, 60),
    ("right elbow", "right shoulder", 0.5, 105, 45),
    ("right shoulder", "neck", 0.3, 160, 10),
    ("left shoulder", "neck", 0.3, 20, 10),
    ("left elbow", "left shoulder", 0.5, 75, 45),
    ("left wrist", "left elbow", 0.45, 85, 60),
    ("neck", None, 0.0, 0, 0),
    ("head top", "neck", 0.5, 270, 12),
]
_JOINTS = [joint for joint, *_ in _BODY]
_PARENTS = np.array([-1 if up is None else _JOINTS.index(up) for _, up, *_ in _BODY])
# Right and left change places.
_MIRRORS = np.array([5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6, 12, 13])
_TORSO = (_JOINTS.index("left shoulder"), _JOINTS.index("right hip"))


def make_score_maps(
    y: Samples,
    shape: tuple[int, int] = (48, 48),
    *,
    mirrors: ArrayLike | None = None,
    blur: float = 1.5,
    jitter: float = 1.0,
    misses: float = 0.1,
    confusion: float = 0.5,
    clutter: float = 3.0,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> list[np.ndarray]:
    """Make score maps of the parts of poses, as a detector that is often wrong gives them.

    The map of a part is a sum of round peaks of standard deviation `blur`, and noise. The peak of
    the part itself has a height that is uniform between 0.5 and 1, or, if the part is missed,
    between 0 and 0.3, and is `jitter` cells away from its place. There may be one at the same part
    of the other side of the body, and there are some anywhere, all of heights uniform between 0
    and 1.

    Parameters
    ----------
    y : sequence of n_samples arrays (n_parts, 2), or array of three dimensions
        x and y of the parts, in cells.
    shape : tuple (height, width), default=(48, 48)
        Size of the maps.
    mirrors : array-like of int of shape (n_parts,), default=None
        The part with which each part may be confused; the part itself if there is none. None means
        that there are none.
    blur : float, default=1.5
        Standard deviation of the peaks, in cells, positive.
    jitter : float, default=1.0
        Standard deviation of the place of a part's own peak along each axis, in cells.
    misses : float, default=0.1
        Probability that a part is missed.
    confusion : float, default=0.5
        Probability of a peak at the part of the other side.
    clutter : float, default=3.0
        Mean number of peaks anywhere in a map; Poisson distributed.
    noise : float, default=0.1
        Standard deviation of independent normal noise at each cell.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : list of n_samples ndarrays of shape (n_parts, height, width)
        Score maps, float32.

    Raises
    ------
    ValueError
        If a number is out of its range or the positions have a wrong shape.

    Examples
    --------
    >>> from sskit.datasets import make_score_maps
    >>> X = make_score_maps([[[4, 2], [9, 5]]], (12, 16), random_state=0)
    >>> X[0].shape
    (2, 12, 16)
    """
    height, width = shape
    check_counts(height=height, width=width)
    check_not_negative(blur=blur, jitter=jitter, clutter=clutter, noise=noise)
    if blur == 0:
        raise ValueError("blur must be positive, got 0")
    for name, value in (("misses", misses), ("confusion", confusion)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be a probability, got {value!r}")
    positions = [array(pose, f"y[{i}]", ("n_parts", 2)) for i, pose in enumerate(y)]
    rng = check_random_state(random_state)
    X = []
    for pose in positions:
        n_parts = len(pose)
        missed, low = rng.uniform(size=n_parts) < misses, rng.uniform(0, 0.3, size=n_parts)
        own = np.where(missed, low, rng.uniform(0.5, 1, size=n_parts))
        sides = np.arange(n_parts) if mirrors is None else np.asarray(mirrors)
        other = rng.uniform(size=n_parts) * (rng.uniform(size=n_parts) < confusion)
        n_bumps = rng.poisson(clutter, size=n_parts)
        anywhere = rng.uniform(size=(n_parts, n_bumps.max(initial=0)))
        anywhere[np.arange(anywhere.shape[1]) >= n_bumps[:, None]] = 0
        heights = np.column_stack([own, other * (sides != np.arange(n_parts)), anywhere])
        detected = (pose + jitter * rng.normal(size=pose.shape))[:, None]
        mirrored = (pose + jitter * rng.normal(size=pose.shape))[sides][:, None]
        clutters = rng.uniform(size=(*anywhere.shape, 2)) * (width - 1, height - 1)
        places = np.concatenate([detected, mirrored, clutters], axis=1)
        across, down = (
            np.exp(-0.5 * ((np.arange(n) - places[..., axis, None]) / blur) ** 2)
            for axis, n in enumerate((width, height))
        )
        maps = np.einsum("kb,kbh,kbw->khw", heights, down, across, optimize=True)
        grain = noise * rng.normal(size=(n_parts, height, width))
        X.append(maps.astype(np.float32) + grain.astype(np.float32))
    return X


def make_poses(
    n_samples: int = 100,
    shape: tuple[int, int] = (36, 36),
    *,
    random_state: RandomState = None,
    **score_options: Any,
) -> Bunch:
    """Make stick figures with their score maps.

    Limbs have directions that vary about those of a standing person, more so in arms and legs,
    and lengths that vary by a tenth; the figures fill the maps. The joints are those of
    the Leeds Sports Poses.

    Parameters
    ----------
    n_samples : int, default=100
        The number of figures.
    shape : tuple (height, width), default=(36, 36)
        Size of the score maps.
    random_state : int, RandomState or None, default=None
        Seed or generator.
    **score_options : dict
        Further parameters of `make_score_maps`.

    Returns
    -------
    poses : sklearn.utils.Bunch
        data : list of ndarrays (14, height, width), score maps, float32.
        target : list of ndarrays (14, 2), x and y of the joints in cells, float64.
        parents : ndarray (14,), the joint to which each is connected, -1 for the neck.
        mirrors : ndarray (14,), the same joint of the other side.
        torso : tuple, left shoulder and right hip.
        joint_names : list of str.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> from sskit.datasets import make_poses
    >>> poses = make_poses(3, random_state=0)
    >>> poses.data[0].shape, poses.target[0].shape
    ((14, 36, 36), (14, 2))
    """
    check_counts(n_samples=n_samples)
    rng = check_random_state(random_state)
    xy = np.zeros((n_samples, len(_BODY), 2))
    todo = [_JOINTS.index("neck")]
    while todo:
        k = todo.pop()
        for child in np.flatnonzero(k == _PARENTS):
            *_, length, direction, spread = _BODY[child]
            angle = np.deg2rad(direction + spread * rng.normal(size=n_samples))
            reach = length * (1 + 0.1 * rng.normal(size=n_samples))
            xy[:, child] = xy[:, k] + (reach * [np.cos(angle), np.sin(angle)]).T
            todo.append(child)
    target = list(into_grid(xy, shape))
    data = make_score_maps(target, shape, mirrors=_MIRRORS, random_state=rng, **score_options)
    return Bunch(data=data, target=target, **skeleton())


def skeleton():
    """Return what all poses have in common."""
    return {
        "parents": _PARENTS.copy(),
        "mirrors": _MIRRORS.copy(),
        "torso": _TORSO,
        "joint_names": list(_JOINTS),
    }


def into_grid(xy, shape, margin=0.1):
    """Return poses scaled and moved to fill a grid but for a margin, in its middle."""
    height, width = shape
    check_counts(height=height, width=width)
    low, size = xy.min(axis=1, keepdims=True), np.ptp(xy, axis=1)
    room = np.array([width - 1, height - 1]) * (1 - 2 * margin)
    scale = (room / np.maximum(size, 1e-12)).min(axis=1)[:, None, None]
    middle = low + size[:, None] / 2
    return (xy - middle) * scale + np.array([width - 1, height - 1]) / 2
