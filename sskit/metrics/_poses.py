"""Scores of poses: detected joints, and distances in torsos."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Literal, overload

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils._param_validation import validate_params

from sskit._numbers import array
from sskit._types import ArrayLike, Samples
from sskit.inputs.poses import check_poses, check_torso, part_errors
from sskit.metrics._tokens import check_weights


@overload
def pdj_score(
    y_true: Samples,
    y_pred: Samples,
    *,
    radius: float = 0.2,
    torso: Sequence[int] | None = None,
    per_part: Literal[False] = False,
    sample_weight: ArrayLike | None = None,
) -> float: ...


@overload
def pdj_score(
    y_true: Samples,
    y_pred: Samples,
    *,
    radius: float = 0.2,
    torso: Sequence[int] | None = None,
    per_part: Literal[True],
    sample_weight: ArrayLike | None = None,
) -> np.ndarray: ...


@validate_params({"per_part": ["boolean"]}, prefer_skip_nested_validation=True)
def pdj_score(
    y_true: Samples,
    y_pred: Samples,
    *,
    radius: float = 0.2,
    torso: Sequence[int] | None = None,
    per_part: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    """Compute the percentage of detected joints: the fraction of parts found near the truth.

    A part counts as detected if it is found within `radius` torsos of its true position.

    Parameters
    ----------
    y_true, y_pred : sequence of n arrays of shape (n_parts, 2), or array of three dimensions
        x and y of the parts, true and predicted. `PartsModel.score` rounds the truth to whole
        cells; this function does not.
    radius : float, default=0.2
        Distance in torsos, not negative.
    torso : tuple of two int, default=None
        The two parts whose true distance is the torso of a pose. None takes the longer side of the
        box around all parts. The torso is at least one.
    per_part : bool, default=False
        Whether to return the fraction of each part.
    sample_weight : array-like of shape (n,), default=None
        Weights of the poses.

    Returns
    -------
    score : float, or ndarray of shape (n_parts,)
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If the two are not poses of the same parts, or another parameter is wrong; the error names
        the item.

    See Also
    --------
    pdj_curve : The score for many radii.
    mean_part_error : The mean distance.

    References
    ----------
    Sapp and Taskar (2013). MODEC: multimodal decomposable models for human pose estimation. CVPR.

    Examples
    --------
    >>> from sskit.metrics import pdj_score
    >>> truth, found = [[[0, 0], [0, 10], [5, 5]]], [[[0, 1], [0, 10], [5, 8]]]
    >>> pdj_score(truth, found, torso=(0, 1), radius=0.2)
    0.6666666666666666
    """
    if isinstance(radius, bool) or not isinstance(radius, numbers.Real) or not radius >= 0:
        raise ValueError(f"radius must be a number >= 0, got {radius!r}")
    errors, weights = _errors(y_true, y_pred, torso, sample_weight)
    fractions = np.average(errors <= radius, axis=0, weights=weights)
    return fractions if per_part else float(fractions.mean())


def pdj_curve(
    y_true: Samples,
    y_pred: Samples,
    *,
    radii: ArrayLike | None = None,
    torso: Sequence[int] | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the percentage of detected joints for many radii.

    Parameters
    ----------
    y_true, y_pred : sequence of n arrays of shape (n_parts, 2), or array of three dimensions
        x and y of the parts, true and predicted.
    radii : array-like of shape (n_radii,), default=None
        Distances in torsos, not negative; None takes 51 from 0 to 0.5.
    torso : tuple of two int, default=None
        As of `pdj_score`.
    sample_weight : array-like of shape (n,), default=None
        Weights of the poses.

    Returns
    -------
    radii : ndarray of shape (n_radii,)
        The distances.
    fractions : ndarray of shape (n_radii,)
        The fraction of parts that are detected within each of them.

    Raises
    ------
    TypeError, ValueError
        As `pdj_score`.

    Examples
    --------
    >>> from sskit.metrics import pdj_curve
    >>> truth, found = [[[0, 0], [0, 10], [5, 5]]], [[[0, 1], [0, 10], [5, 8]]]
    >>> radii, fractions = pdj_curve(truth, found, torso=(0, 1), radii=[0, 0.1, 0.2, 0.3])
    >>> fractions.round(2)
    array([0.33, 0.67, 0.67, 1.  ])
    """
    radii = np.linspace(0.0, 0.5, 51) if radii is None else radii
    radii = array(radii, "radii", ("n_radii",), low=0)
    errors, weights = _errors(y_true, y_pred, torso, sample_weight)
    fractions = [np.average(errors <= radius, axis=0, weights=weights).mean() for radius in radii]
    return radii, np.array(fractions)


@overload
def mean_part_error(
    y_true: Samples,
    y_pred: Samples,
    *,
    torso: Sequence[int] | None = None,
    per_part: Literal[False] = False,
    sample_weight: ArrayLike | None = None,
) -> float: ...


@overload
def mean_part_error(
    y_true: Samples,
    y_pred: Samples,
    *,
    torso: Sequence[int] | None = None,
    per_part: Literal[True],
    sample_weight: ArrayLike | None = None,
) -> np.ndarray: ...


@validate_params({"per_part": ["boolean"]}, prefer_skip_nested_validation=True)
def mean_part_error(
    y_true: Samples,
    y_pred: Samples,
    *,
    torso: Sequence[int] | None = None,
    per_part: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    """Compute the mean distance of the parts from their true positions.

    Parameters
    ----------
    y_true, y_pred : sequence of n arrays of shape (n_parts, 2), or array of three dimensions
        x and y of the parts, true and predicted.
    torso : tuple of two int, default=None
        As of `pdj_score`.
    per_part : bool, default=False
        Whether to return the mean distance of each part.
    sample_weight : array-like of shape (n,), default=None
        Weights of the poses.

    Returns
    -------
    error : float, or ndarray of shape (n_parts,)
        In torsos; 0 is the best.

    Raises
    ------
    TypeError, ValueError
        As `pdj_score`.

    Examples
    --------
    >>> from sskit.metrics import mean_part_error
    >>> truth, found = [[[0, 0], [0, 10], [5, 5]]], [[[0, 1], [0, 10], [5, 8]]]
    >>> round(mean_part_error(truth, found, torso=(0, 1)), 3)
    0.133
    """
    errors, weights = _errors(y_true, y_pred, torso, sample_weight)
    errors = np.average(errors, axis=0, weights=weights)
    return errors if per_part else float(errors.mean())


def _errors(y_true, y_pred, torso, sample_weight):
    """Return distances (n, n_parts) in torsos, and the weights of the poses."""
    truth = check_poses(y_true, "y_true")
    pred = check_poses(y_pred, "y_pred", truth.shape[1], count=len(truth), x_name="y_true")
    errors = part_errors(truth, pred, check_torso(torso, truth.shape[1]))
    return errors, check_weights(sample_weight, len(truth))


pdj_scorer: Callable[..., float] = make_scorer(pdj_score)
