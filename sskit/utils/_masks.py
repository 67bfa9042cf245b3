"""Labels of nodes from labels of pixels, and back."""

import numpy as np

from sskit.utils._ragged_array import split
from sskit.utils.ragged import _items, stack_labels

_TARGETS = "one array of labels, of nodes or of pixels, per graph"


def node_targets(y, graphs, ignore_label=None):
    """Check labels of graphs and stack them by nodes.

    Parameters
    ----------
    y : sequence of n arrays (V_i,) or (H_i, W_i)
        Labels of the nodes, or of the pixels of graphs with segments: a node gets the label that
        most of its pixels have.
    graphs : GraphBatch
        The graphs.
    ignore_label : object, default=None
        A label that says that there is none; None means that all are labels.

    Returns
    -------
    labels : ndarray of shape (N,)
        Of all nodes; anything where a node has none.
    labelled : ndarray of shape (N,), bool
        Which nodes have a label.
    masks : list of ndarray or None
        The labels of the pixels if they were given.

    Raises
    ------
    TypeError, ValueError
        Naming the item that is wrong.
    """
    if y is None:
        raise ValueError(f"y is None, but labels are needed: {_TARGETS}")
    items = list(y) if isinstance(y, np.ndarray) and y.ndim in (2, 3) else _items(y, "y", _TARGETS)
    if len(items) != len(graphs):
        raise ValueError(f"X has {len(graphs)} graphs but y has {len(items)}")
    of_pixels = [np.ndim(item) == 2 for item in items]
    if not any(of_pixels):
        labels = stack_labels(items, graphs.n_nodes)
        labelled = np.ones(len(labels), dtype=bool)
        if ignore_label is not None:
            labelled &= np.asarray(labels != ignore_label, dtype=bool)
        return labels, labelled, None
    masks = check_masks(items, graphs)
    ignored = [is_ignored(mask, ignore_label) for mask in masks]
    pairs = [
        majority(mask, segments, int(n), skip)
        for mask, segments, n, skip in zip(
            masks, graphs.segments, graphs.n_nodes, ignored, strict=True
        )
    ]
    labels = stack_labels([labels for labels, _ in pairs], graphs.n_nodes)
    return labels, np.concatenate([labelled for _, labelled in pairs]), masks


def check_masks(items, graphs):
    """Return labels of pixels as arrays, checked against the segments of graphs.

    Parameters
    ----------
    items : sequence of n arrays (H_i, W_i)
        Labels of the pixels.
    graphs : GraphBatch
        The graphs.

    Returns
    -------
    masks : list of n ndarray
        As given.

    Raises
    ------
    ValueError
        Naming the item that is wrong.
    """
    if len(items) != len(graphs):
        raise ValueError(f"X has {len(graphs)} graphs but y has {len(items)}")
    masks = [np.asarray(item) for item in items]
    for i, mask in enumerate(masks):
        if mask.ndim != 2:
            raise ValueError(f"y[{i}] must have labels of pixels, as others have, or none must")
        if graphs.segments is None:
            raise ValueError(
                f"y[{i}] has labels of pixels, but X[{i}] does not say by an attribute 'segments' "
                "to which nodes they belong"
            )
        if mask.shape != graphs.segments[i].shape:
            raise ValueError(
                f"X[{i}] has segments of shape {graphs.segments[i].shape} but y[{i}] has labels "
                f"of shape {mask.shape}"
            )
    return masks


def is_ignored(labels, ignore_label):
    """Return where an array of labels has the label that says that there is none."""
    if ignore_label is None:
        return np.zeros(labels.shape, dtype=bool)
    return np.broadcast_to(np.asarray(labels == ignore_label, dtype=bool), labels.shape)


def majority(mask, segments, n_nodes, ignored):
    """Return the most frequent label of the pixels of each node.

    Parameters
    ----------
    mask : ndarray of shape (H, W)
        Labels.
    segments : ndarray of shape (H, W) of int
        Nodes.
    n_nodes : int
        Number of nodes.
    ignored : ndarray of shape (H, W), bool
        Pixels without a label.

    Returns
    -------
    labels : ndarray of shape (n_nodes,)
        The first of those that are as frequent.
    labelled : ndarray of shape (n_nodes,), bool
        Whether the node has any pixel with a label.
    """
    kinds, codes = np.unique(mask, return_inverse=True)
    place = segments.astype(np.int64) * len(kinds) + codes.reshape(mask.shape)
    counts = np.bincount(place[~ignored], minlength=n_nodes * len(kinds))
    counts = counts.reshape(n_nodes, len(kinds))
    return kinds[counts.argmax(axis=1)], counts.any(axis=1)


def paint(labels, graphs):
    """Return the labels of pixels from those of nodes.

    Parameters
    ----------
    labels : ndarray of shape (N,)
        Labels of the nodes of all graphs.
    graphs : GraphBatch
        With segments.

    Returns
    -------
    masks : ndarray of shape (n,), object
        Each item is an ndarray of shape (H_i, W_i).
    """
    masks = np.empty(len(graphs), dtype=object)
    for i, of_nodes in enumerate(split(labels, graphs.node_offsets)):
        masks[i] = of_nodes[graphs.segments[i]]
    return masks
