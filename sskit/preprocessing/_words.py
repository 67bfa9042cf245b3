"""Visual words: every pixel of an image becomes one of a few integers that histograms count.

Those of colours and of textures are learned; places need none.
"""

import math

import numpy as np
from scipy import ndimage
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import resample
from sklearn.utils.parallel import Parallel, delayed

from sskit._numbers import n_workers
from sskit._optional import optional
from sskit.inputs.masks import as_rgb

SIFT_STEP = 4
_ORIENTATIONS = 8
_CELL_SIZE = 4
_LARGEST_SEED = np.iinfo(np.int32).max
_CLIP = 0.2
# From how many pixels or patches, equally many of each image, words are learned.
_SAMPLE_SIZE = 40_000
# Points of a step of k-means, and those for each word that its first centres are drawn from.
_BATCH = 4096
_START = 8
# The norm of a patch whose mean gradient is that of the noise of a photograph: half a grey value
# of 256 per pixel, in all 16 cells.
_FLAT = 4 * 0.5 / 256


def word_image(image, describe, step, centers):
    """Return the word of every pixel: that of the patch whose square it lies in.

    Parameters
    ----------
    image : ndarray of float32 of shape (H, W, 3)
        RGB from 0 to 1.
    describe : callable
        `lab_colors` or `dense_sift`.
    step : int
        Every how many pixels it describes one, or a patch.
    centers : ndarray of shape (n_words, d)
        The words.

    Returns
    -------
    words : ndarray of int of shape (H, W)
        The numbers of the centres that are nearest.
    """
    grid = describe(image)
    words = pairwise_distances_argmin(grid.reshape(-1, grid.shape[2]), centers)
    rows, columns = (np.arange(size) // step for size in image.shape[:2])
    return words.reshape(grid.shape[:2])[np.ix_(rows, columns)]


def position_image(image, n_cells):
    """Return the cell of every pixel in a grid over the image, numbered row by row.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3)
        Any image.
    n_cells : int
        Cells along each side of the image.

    Returns
    -------
    cells : ndarray of int of shape (H, W)
        Numbers of cells.
    """
    rows, columns = (np.arange(size) * n_cells // size for size in image.shape[:2])
    return rows[:, None] * n_cells + columns


def lab_colors(image):
    """Return the colours of pixels in CIELAB, where distances are those that eyes see.

    Parameters
    ----------
    image : ndarray of float32 of shape (H, W, 3)
        RGB from 0 to 1.

    Returns
    -------
    lab : ndarray of float32 of the same shape
        Lightness from 0 to 100, and two axes of colour.
    """
    with optional():
        from skimage.color import rgb2lab

    return rgb2lab(image).astype(np.float32, copy=False)


def dense_sift(image):
    """Return SIFT descriptors [1]_ of upright patches on a regular grid.

    A patch is 4 x 4 cells of 4 x 4 pixels with a histogram of 8 directions of the gradient each. As
    for SIFT, the 128 numbers are scaled to norm one, clipped at 0.2 and scaled again; flat patches,
    whose directions are noise, are scaled to less.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3)
        RGB from 0 to 1. Patches reach over its border, where its last cells are repeated.

    Returns
    -------
    descriptors : ndarray of float32 of shape (ceil(H / 4), ceil(W / 4), 128)
        One row per patch, every four pixels.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60,
       2004.
    """
    gray = image @ np.array([0.2125, 0.7154, 0.0721], dtype=np.float32)
    pooled = _gradients(gray)
    places = []
    for axis, size in enumerate(gray.shape, 1):
        centers = _cell_centers(size)
        # neighbouring patches have common centres; what lies between is not needed
        unique, places_of = np.unique(centers, return_inverse=True)
        places.append(places_of.reshape(centers.shape))
        pooled = ndimage.uniform_filter1d(pooled, _CELL_SIZE, axis=axis, mode="nearest")
        pooled = pooled.take(unique, axis=axis)
    rows, columns = places
    blocks = pooled[:, rows[:, :, None, None], columns[None, None]]
    # (direction, row, cell down, column, cell across) to (row, column, all of the patch).
    blocks = blocks.transpose(1, 3, 2, 4, 0)
    descriptors = blocks.reshape(*blocks.shape[:2], -1)
    norms = np.linalg.norm(descriptors, axis=-1, keepdims=True)
    descriptors = _unit(np.minimum(_unit(descriptors), _CLIP))
    descriptors *= norms / np.hypot(norms, _FLAT)
    return descriptors.astype(np.float32, copy=False)


def _gradients(gray):
    """Return the strength of the gradient of each pixel by direction, (8, H, W)."""
    down, right = (ndimage.sobel(gray, axis=axis, mode="nearest") / 8 for axis in (0, 1))
    strength = np.hypot(down, right)
    # Every gradient is shared by the two directions that it lies between.
    turn = np.arctan2(down, right) * (_ORIENTATIONS / (2 * np.pi)) % _ORIENTATIONS
    first = turn.astype(np.intp)
    second_part = (turn - first) * strength
    strengths = np.zeros((_ORIENTATIONS, gray.size), dtype=strength.dtype)
    pixels, first = np.arange(gray.size), first.ravel() % _ORIENTATIONS
    strengths[first, pixels] = (strength - second_part).ravel()
    strengths[(first + 1) % _ORIENTATIONS, pixels] = second_part.ravel()
    return strengths.reshape(_ORIENTATIONS, *gray.shape)


def _cell_centers(size):
    """Return the middles of the four cells of every patch along one side of the image."""
    centers = np.arange(0, size, SIFT_STEP)[:, None] + SIFT_STEP // 2
    return np.clip(centers + _CELL_SIZE * np.array([-1.5, -0.5, 0.5, 1.5]), 0, size - 1).astype(int)


def _unit(descriptors):
    """Return the descriptors with norm one; zeros remain zeros."""
    norms = np.linalg.norm(descriptors, axis=-1, keepdims=True)
    return descriptors / np.maximum(norms, np.finfo(np.float32).tiny)


def learn_words(images, describe, n_words, *, rng, n_jobs):
    """Return the centres that k-means finds among descriptors sampled from images.

    Parameters
    ----------
    images : list of ndarrays
        Those that were checked.
    describe : callable
        `lab_colors` or `dense_sift`.
    n_words : int
        The requested number of centres.
    rng : RandomState
        Draws the seeds, as many whatever `n_words` is.
    n_jobs : int or None
        Number of images at a time.

    Returns
    -------
    centers : ndarray of float32 of shape (n, d)
        ``n = n_words``, or all different descriptors sampled where they are no more than that.
    """
    *seeds, start = rng.randint(_LARGEST_SEED, size=len(images) + 1).tolist()
    if n_words == 0:
        return np.empty((0, 0), dtype=np.float32)
    n_rows = math.ceil(_SAMPLE_SIZE / len(images))
    samples = Parallel(n_jobs=n_workers(n_jobs, len(images)))(
        delayed(sample)(describe, image, n_rows, seed)
        for image, seed in zip(images, seeds, strict=True)
    )
    return cluster(np.concatenate(samples), n_words, start)


def sample(describe, image, n_points, seed):
    """Return descriptors of some places of an image, (m, d), or of all if it has no more."""
    grid = describe(as_rgb(image))
    rows = grid.reshape(-1, grid.shape[2])
    if len(rows) <= n_points:
        return rows
    return resample(rows, replace=False, n_samples=n_points, random_state=seed)


def cluster(points, n_words, seed):
    """Return the centres of clusters of descriptors, found by mini-batch k-means.

    Parameters
    ----------
    points : ndarray of shape (m, d)
        A sample of descriptors.
    n_words : int
        The requested number of centres.
    seed : int
        Seed of the first centres.

    Returns
    -------
    centers : ndarray of shape (n, d)
        ``n = n_words``, or all different points where they are no more than that.
    """
    distinct = np.unique(points, axis=0)
    if len(distinct) <= n_words:
        return distinct
    # the centres to begin with are chosen among so many points
    sizes = {"batch_size": _BATCH, "init_size": _START * n_words}
    options = {"n_init": 1, "compute_labels": False, "random_state": seed}
    return MiniBatchKMeans(n_words, **sizes, **options).fit(points).cluster_centers_
