"""Graphs of label maps that users made themselves: who touches whom, and features of pixels."""

import numpy as np

from sskit._numbers import as_array, as_floats
from sskit.preprocessing._regions import adjacent_pairs

_REDUCTIONS = {"sum": np.add, "mean": np.add, "min": np.minimum, "max": np.maximum}


def region_adjacency(segments, *, connectivity=1):
    """Find which regions of a label map touch each other.

    Parameters
    ----------
    segments : array-like of int of shape (H, W) or (D, H, W)
        The region of every pixel, or voxel, in any numbering, as scikit-image's ``slic`` or
        ``label`` return it.
    connectivity : int, default=1
        In how many directions at once neighbours may differ: with 1 those that share a side of a
        pixel touch, with 2 those that share a corner (or the edge of a voxel) too.

    Returns
    -------
    edges : ndarray of int32 of shape (E, 2)
        Every pair of regions that touch, once, the smaller number first, in lexicographic order.
        Region v is that of the v-th smallest number in `segments`, as for
        `node_features_from_pixels`.

    Raises
    ------
    TypeError, ValueError
        If `segments` is no label map, or `connectivity` is not from 1 to its number of dimensions.

    See Also
    --------
    SuperpixelGraphs : Cuts images and describes the regions.

    Examples
    --------
    >>> from sskit.preprocessing import region_adjacency
    >>> region_adjacency([[7, 7, 3], [5, 5, 3]])
    array([[0, 1],
           [0, 2],
           [1, 2]], dtype=int32)
    """
    segments, _ = _regions(segments)
    if connectivity not in range(1, segments.ndim + 1) or isinstance(connectivity, bool):
        raise ValueError(
            f"connectivity must be a whole number from 1 to {segments.ndim}, got {connectivity!r}"
        )
    return adjacent_pairs(segments, connectivity)


def node_features_from_pixels(segments, pixels, *, reduction="mean"):
    """Pool features of pixels over the regions of a label map.

    Parameters
    ----------
    segments : array-like of int of shape (H, W) or (D, H, W)
        The region of every pixel, or voxel, in any numbering.
    pixels : array-like of shape (H, W), (H, W, C), (D, H, W) or (D, H, W, C)
        Features of the pixels: colours, filter responses, probabilities of another model. float32
        stays so, other numbers become float64.
    reduction : {"mean", "sum", "min", "max"}, default="mean"
        What becomes of the features of the pixels of a region.

    Returns
    -------
    features : ndarray of shape (V, C)
        Row v is that of the v-th smallest number in `segments`.

    Raises
    ------
    TypeError, ValueError
        If shapes do not fit together, the features are no numbers, or the reduction is unknown.

    See Also
    --------
    region_adjacency : The edges between these nodes.

    Examples
    --------
    >>> from sskit.preprocessing import node_features_from_pixels
    >>> segments = [[0, 0, 1], [0, 1, 1]]
    >>> node_features_from_pixels(segments, [[1.0, 2.0, 4.0], [3.0, 4.0, 7.0]])
    array([[2.],
           [5.]])
    """
    if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
        raise ValueError(f"reduction must be one of {[*_REDUCTIONS]}, got {reduction!r}")
    segments, n_regions = _regions(segments)
    pixels = as_array(pixels, "pixels")
    if pixels.shape[: segments.ndim] != segments.shape or pixels.ndim > segments.ndim + 1:
        raise ValueError(
            f"pixels has the shape {pixels.shape}, expected {segments.shape} as segments, and one "
            "more dimension if there are several features"
        )
    if pixels.dtype != np.float32:
        pixels = as_floats(pixels, "pixels")
    flat = segments.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(n_regions))
    rows = pixels.reshape(flat.size, -1)[order]
    features = _REDUCTIONS[reduction].reduceat(rows, starts, axis=0)
    if reduction == "mean":
        features /= np.bincount(flat)[:, None]
    return features


def _regions(segments):
    """Return the regions of a label map, numbered from 0 without gaps, and how many there are."""
    segments = as_array(segments, "segments")
    if segments.dtype.kind not in "iu":
        raise TypeError(f"segments must hold integers, got dtype {segments.dtype}")
    if segments.ndim not in (2, 3) or segments.size == 0:
        raise ValueError(
            f"segments must have shape (H, W) or (D, H, W) and a pixel, got {segments.shape}"
        )
    labels, regions = np.unique(segments, return_inverse=True)
    return regions.reshape(segments.shape), len(labels)
