"""Regions of an image: their neighbours, their histograms, and their graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sskit._cures import raise_noted
from sskit._numbers import as_array
from sskit._optional import optional
from sskit._types import ArrayLike
from sskit.inputs.masks import as_rgb
from sskit.preprocessing._superpixel_graph import SuperpixelGraph

# Factors of the distances of histograms in features of edges.
ETAS = 2.0 ** np.arange(-5, 6)


def slic_segments(image, n_segments):
    """Cut an image into superpixels with SLIC [1]_.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3)
        RGB from 0 to 1.
    n_segments : int
        About how many superpixels to make.

    Returns
    -------
    segments : ndarray of int of shape (H, W)
        A number for every pixel.

    References
    ----------
    .. [1] R. Achanta, A. Shaji, K. Smith, A. Lucchi, P. Fua, S. Suesstrunk, "SLIC superpixels
       compared to state-of-the-art superpixel methods", IEEE TPAMI 34, 2012.
    """
    with optional():
        from skimage.segmentation import slic

    return slic(image, n_segments, compactness=10.0, sigma=1.0, start_label=0, channel_axis=-1)


def adjacent_pairs(segments):
    """Return the pairs of regions that touch along a side of a pixel.

    Parameters
    ----------
    segments : ndarray of int of shape (H, W) or (D, H, W)
        The region of every pixel, 0 to V - 1.

    Returns
    -------
    edges : ndarray of int32 of shape (E, 2)
        Every pair once, the smaller number first, in lexicographic order.
    """
    n_regions, codes = int(segments.max()) + 1, []
    for axis in range(segments.ndim):
        slices = np.moveaxis(segments, axis, 0)
        first, second = np.minimum(slices[:-1], slices[1:]), np.maximum(slices[:-1], slices[1:])
        apart = first != second
        # One number per pair sorts faster than rows do.
        codes.append(np.unique(first[apart].astype(np.int64) * n_regions + second[apart]))
    edges = np.divmod(np.unique(np.concatenate(codes)), n_regions)
    return np.column_stack(edges).astype(np.int32)


def reaches(edges, n_regions, order):
    """Return which nodes can be reached in 0, 1, ..., `order` steps.

    Parameters
    ----------
    edges : ndarray of int of shape (E, 2)
        Adjacent regions.
    n_regions : int
        The number V of regions.
    order : int
        The largest number of steps.

    Returns
    -------
    matrices : list of order + 1 CSR arrays of bool of shape (V, V)
        Matrix k is true at (i, j) if j is at most k steps away from i, so also at (i, i).
    """
    ones = np.ones(len(edges), dtype=bool)
    one_way = sp.csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(n_regions, n_regions))
    matrices = [sp.eye_array(n_regions, dtype=bool, format="csr")]
    step = one_way + one_way.T + matrices[0]
    for _ in range(order):
        matrices.append(matrices[-1] @ step)
    return matrices


def count_words(segments, words, n_words):
    """Count for every region how many of its pixels carry each word.

    Parameters
    ----------
    segments : ndarray of int of shape (H, W)
        The region of every pixel.
    words : ndarray of int of shape (H, W)
        The word of every pixel, 0 to ``n_words - 1``.
    n_words : int
        The number of words.

    Returns
    -------
    counts : ndarray of float64 of shape (V, n_words)
        Numbers of pixels.
    """
    n_regions = int(segments.max()) + 1
    codes = segments.astype(np.int64) * n_words + words
    counts = np.bincount(codes.ravel(), minlength=n_regions * n_words)
    return counts.reshape(n_regions, n_words).astype(np.float64)


def chi2_distances(histograms, edges):
    """Return the chi-squared distance of the histograms of every pair of neighbours.

    Parameters
    ----------
    histograms : ndarray of shape (V, n)
        Rows that sum to one.
    edges : ndarray of int of shape (E, 2)
        Pairs of rows.

    Returns
    -------
    distances : ndarray of shape (E,)
        ``sum((a - b)**2 / (a + b)) / 2``: 0 for equal histograms, 1 for those without a common bin.
    """
    a, b = histograms[edges[:, 0]], histograms[edges[:, 1]]
    # An empty bin on both sides counts nothing.
    total = np.maximum(a + b, np.finfo(np.float64).tiny)
    return 0.5 * ((a - b) ** 2 / total).sum(axis=1)


def make_graph(image, label, segmenter, vocabulary, neighborhood, power):
    """Return the graph of an image. Called in worker processes.

    Parameters
    ----------
    image : ndarray
        One that was checked.
    label : str
        What errors call the image.
    segmenter : callable
        Takes RGB as floats, returns integers of shape (H, W).
    vocabulary : list of tuple
        Name, number and function of each kind of words that histograms count; the function takes
        the image and returns the word of each pixel.
    neighborhood : int
        Histograms reach over so many edges.
    power : float
        Exponent of the entries of histograms as node features.

    Returns
    -------
    graph : SuperpixelGraph
        The features are a constant, then kind by kind of word the histograms over growing
        neighbourhoods; the edge features a constant, then for each of these histograms one
        column per factor in `ETAS`.

    Raises
    ------
    ValueError
        If the segmenter returns something else.
    """
    rgb = as_rgb(image)
    try:
        segments = np.asarray(segmenter(rgb))
    except Exception as error:
        raise_noted(error, f"raised by the segmenter for {label}")
    if segments.shape != image.shape[:2] or segments.dtype.kind not in "iu":
        raise ValueError(
            f"the segmenter must return integers of shape {image.shape[:2]} for {label}, got "
            f"{segments.dtype} of shape {segments.shape}"
        )
    _, numbers = np.unique(segments, return_inverse=True)
    segments = numbers.reshape(segments.shape).astype(np.int32)
    edges, n_nodes = adjacent_pairs(segments), int(segments.max()) + 1
    features, edge_features = [np.ones((n_nodes, 1))], [np.ones((len(edges), 1))]
    pools = reaches(edges, n_nodes, neighborhood)
    for _, n_words, words_of in vocabulary:
        counts = count_words(segments, words_of(rgb), n_words)
        for pool in pools:
            histograms = pool @ counts
            histograms /= histograms.sum(axis=1, keepdims=True)
            features.append(histograms**power)
            edge_features.append(np.exp(-chi2_distances(histograms, edges)[:, None] * ETAS))
    features, edge_features = (
        np.concatenate(columns, axis=1, dtype=np.float32) for columns in (features, edge_features)
    )
    return SuperpixelGraph(features, edges, edge_features, segments)


def region_adjacency(segments: ArrayLike) -> np.ndarray:
    """Find which regions of a label map touch each other along a side of a pixel.

    Parameters
    ----------
    segments : array-like of int of shape (H, W) or (D, H, W)
        The region of every pixel, or voxel, in any numbering, as scikit-image's ``slic`` or
        ``label`` return it.

    Returns
    -------
    edges : ndarray of int32 of shape (E, 2)
        Every pair of regions that touch, once, the smaller number first, in lexicographic order.
        Region v is that of the v-th smallest number in `segments`, as in scikit-image's
        ``regionprops_table``, which averages features of pixels.

    Raises
    ------
    TypeError, ValueError
        If `segments` is not a label map.

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
    segments = as_array(segments, "segments")
    if segments.dtype.kind not in "iu":
        raise TypeError(f"segments must hold integers, got dtype {segments.dtype}")
    if segments.ndim not in (2, 3) or segments.size == 0:
        raise ValueError(
            f"segments must have shape (H, W) or (D, H, W) and a pixel, got {segments.shape}"
        )
    _, regions = np.unique(segments, return_inverse=True)
    return adjacent_pairs(regions.reshape(segments.shape))
