"""Graphs of label maps that users made themselves: who touches whom."""

import numpy as np

from sskit._numbers import as_array
from sskit.preprocessing._regions import adjacent_pairs


def region_adjacency(segments):
    """Find which regions of a label map touch each other: those that share a side of a pixel.

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
        ``regionprops_table``, which pools features of pixels.

    Raises
    ------
    TypeError, ValueError
        If `segments` is no label map.

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
