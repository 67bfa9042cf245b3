"""Artificial images to segment: land seen from above, painted out of filtered noise."""

from __future__ import annotations

from numbers import Real
from typing import Literal

import numpy as np
import scipy  # its modules load at first use: megabytes that few need
from sklearn.utils import check_random_state

from sskit._types import RandomState
from sskit.datasets._makers import check_counts

_COLORS = np.array([[72, 102, 122], [74, 98, 58], [150, 140, 84], [172, 152, 124]], dtype=float)


def make_segmentation_images(
    n_samples: int = 20,
    *,
    shape: tuple[int, int] = (90, 120),
    n_classes: Literal[2, 3, 4] = 4,
    spots: float = 0.15,
    random_state: RandomState = None,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Make views of land from above: water, forest, fields and sand, each with its texture.

    Regions are large and smooth. They contain spots that resemble another class but belong to the
    region: clearings, ponds, sandbanks. Only its neighbours show what a spot is, so a model of
    neighbouring superpixels is better than one of single superpixels.

    Parameters
    ----------
    n_samples : int, default=20
        The number of images.
    shape : tuple of two int, default=(90, 120)
        Height and width in pixels.
    n_classes : {2, 3, 4}, default=4
        How many of the four kinds of land there are, in the order above.
    spots : float in [0, 0.5], default=0.15
        Approximate fraction of the pixels away from borders that are in a spot.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : list of n_samples ndarrays of shape (height, width, 3)
        The images, RGB, uint8.
    y : list of n_samples ndarrays of shape (height, width)
        The label of every pixel, 0 to ``n_classes - 1``, int64.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> from sskit.datasets import make_segmentation_images
    >>> X, y = make_segmentation_images(3, random_state=0)
    >>> len(X), X[0].shape, y[0].shape
    (3, (90, 120, 3), (90, 120))
    """
    check_counts(n_samples=n_samples)
    if not isinstance(spots, Real) or not 0 <= spots <= 0.5:
        raise ValueError(f"spots must be a number in [0, 0.5], got {spots!r}")
    if isinstance(n_classes, bool) or n_classes not in (2, 3, 4):
        raise ValueError(f"n_classes must be 2, 3 or 4, got {n_classes!r}")
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(f"shape must be (height, width), got {shape!r}")
    check_counts(height=shape[0], width=shape[1])
    rng = check_random_state(random_state)
    views = [_make_view(tuple(shape), n_classes, spots, rng) for _ in range(n_samples)]
    return [image for image, _ in views], [mask for _, mask in views]


def _make_view(shape, n_classes, spots, rng):
    """Return one image and its mask."""
    # The size of regions goes with that of the image, the size of spots does not.
    land = _fields((n_classes, *shape), np.sqrt(shape[0] * shape[1]) / 9, rng)
    mask = land.argmax(axis=0)
    second, first = np.sort(land, axis=0)[-2:]
    blobs = _fields(shape, 3, rng)
    # Spots keep away from borders, which therefore are where the mask has them.
    in_spot = (blobs > np.quantile(blobs, 1 - spots)) & (first - second > 0.3)
    other = _fields((n_classes - 1, *shape), 5, rng).argmax(axis=0)
    classes = np.where(in_spot, (mask + 1 + other) % n_classes, mask)
    textures = _textures(shape, rng)[:n_classes]
    painted = _COLORS[:n_classes, None, None] * (1 + textures[..., None])
    image = np.take_along_axis(painted, classes[None, ..., None], axis=0)[0]
    image = scipy.ndimage.gaussian_filter(image, (0.6, 0.6, 0))
    # Light differs from view to view and over a view; the sensor adds its grain.
    light = 1 + 0.08 * rng.normal() + 0.08 * _fields(shape, max(shape) / 4, rng)[..., None]
    image = image * light * (1 + 0.03 * rng.normal(size=3)) + 4 * rng.normal(size=image.shape)
    return image.clip(0, 255).astype(np.uint8), mask.astype(np.int64)


def _textures(shape, rng):
    """Return what makes each kind of land brighter or darker, as fractions of its colour."""
    ripples = 0.05 * _fields(shape, (0.7, 3.0), rng)
    crowns = 0.28 * np.tanh(2 * _fields(shape, 1.4, rng))
    angle, period = rng.uniform(np.pi), rng.uniform(4, 6)
    down, right = np.mgrid[: shape[0], : shape[1]]
    along = (np.cos(angle) * right + np.sin(angle) * down) * (2 * np.pi / period)
    furrows = 0.13 * np.sin(along + 0.6 * _fields(shape, 6, rng)) + 0.06 * _fields(shape, 0.6, rng)
    grains = 0.10 * _fields(shape, 0.5, rng)
    return np.stack([ripples, crowns, furrows, grains])


def _fields(shape, width, rng):
    """Return smooth random fields of mean about 0 and standard deviation 1."""
    widths = (*(0,) * (len(shape) - 2), *np.broadcast_to(width, 2))
    fields = scipy.ndimage.gaussian_filter(rng.normal(size=shape), widths, mode="wrap")
    spread = np.sqrt((fields**2).mean(axis=(-2, -1), keepdims=True))
    return fields / np.maximum(spread, np.finfo(float).tiny)
