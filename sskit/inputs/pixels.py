"""From masks of pixels to labels of superpixels."""

import numpy as np
import scipy.sparse as sp


def equal_to(labels, label):
    """Return where an array of labels is equal to a label, which may be of any kind."""
    try:
        same = labels == label
    except (TypeError, ValueError, OverflowError):  # of another kind, which equals no label
        same = False
    return np.broadcast_to(np.asarray(same, dtype=bool), labels.shape)


def majority_labels(segments, mask, n_nodes, ignore_label=None):
    """Return the label that most pixels of every superpixel have.

    Parameters
    ----------
    segments : ndarray of int of shape (H, W)
        The superpixel of every pixel, 0 to ``n_nodes - 1``.
    mask : ndarray of shape (H, W)
        The label of every pixel, of any type that can be sorted.
    n_nodes : int
        The number V of superpixels.
    ignore_label : object or None, default=None
        Pixels of this label have no vote; a superpixel that holds no others gets it.

    Returns
    -------
    labels : ndarray of shape (V,)
        Of the dtype of the mask. Of equally frequent labels, the smallest.

    Raises
    ------
    ValueError
        If a superpixel holds no pixel at all.
    """
    classes, codes = np.unique(mask, return_inverse=True)
    codes, nodes = codes.ravel(), segments.ravel()
    empty = np.flatnonzero(np.bincount(nodes, minlength=n_nodes)[:n_nodes] == 0)
    if empty.size:
        raise ValueError(f"superpixel {empty[0]} holds no pixel")
    votes = np.ones(codes.size, dtype=np.int64)
    if ignore_label is not None:
        votes[equal_to(classes, ignore_label)[codes]] = 0
    # Superpixels see few of the labels: no table of all pairs, which thousands of
    # instances would make large.
    table = sp.coo_array((votes, (nodes, codes)), shape=(n_nodes, len(classes))).tocsr()
    table.sum_duplicates()
    # Sorted by node, then by falling votes, then by label: the first of every node wins.
    rows = np.repeat(np.arange(n_nodes), np.diff(table.indptr))
    order = np.lexsort((table.indices, -table.data, rows))
    winners = table.indices[order[table.indptr[:-1]]]
    labels = classes[winners]
    if ignore_label is not None:
        unlabelled = table.data[order[table.indptr[:-1]]] == 0
        if unlabelled.any():  # else the label may be of a kind that this array cannot hold
            labels[unlabelled] = ignore_label
    return labels
