"""Labels of nodes from labels of pixels, and back."""

from functools import partial

import numpy as np
import scipy.sparse as sp

from sskit._numbers import as_array
from sskit.inputs.ragged import _check_sortable, _items, stack_labels
from sskit.inputs.ragged_array import RaggedArray, object_array, split

_TARGETS = "one array of labels, of nodes or of pixels, per graph"


def node_targets(y, graphs, ignore_label=None):
    """Check labels of graphs and stack them by nodes.

    Parameters
    ----------
    y : sequence of n arrays (V_i,) or (H_i, W_i)
        Labels of the nodes, or of the pixels of graphs with segments: a node gets the label that
        most of its pixels have. Of pixels, if the first item is two-dimensional.
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
    check_label(ignore_label)
    items = _target_items(y)
    if len(items) != len(graphs):
        raise ValueError(f"X has {len(graphs)} graphs but y has {len(items)}")
    if np.ndim(items[0]) > 2:
        raise ValueError(
            "y[0] must have labels of nodes, in one dimension, or of pixels, in two; got shape "
            f"{np.shape(items[0])}"
        )
    if np.ndim(items[0]) != 2:
        labels = stack_labels(items, graphs.n_nodes)
        return labels, ~is_ignored(labels, ignore_label), None
    masks = check_masks(items, graphs)
    labels = [
        majority_labels(segments, mask, int(n), ignore_label)
        for segments, mask, n in zip(graphs.segments, masks, graphs.n_nodes, strict=True)
    ]
    labels = stack_labels(labels, graphs.n_nodes)
    return labels, ~is_ignored(labels, ignore_label), masks


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
    items = _target_items(items)
    if len(items) != len(graphs):
        raise ValueError(f"X has {len(graphs)} graphs but y has {len(items)}")
    masks = [as_array(item, f"y[{i}]") for i, item in enumerate(items)]
    for i, mask in enumerate(masks):
        if mask.ndim != 2:
            raise ValueError(f"y[{i}] must be a two-dimensional array, got shape {mask.shape}")
        if graphs.segments is None:
            raise ValueError(
                f"y[{i}] has labels of pixels, but X[{i}] does not say by an attribute 'segments' "
                "to which nodes they belong, as graphs of SuperpixelGraphs do; if pixels are "
                "nodes, flatten y"
            )
        if mask.shape != graphs.segments[i].shape:
            raise ValueError(
                f"X[{i}] has segments of shape {graphs.segments[i].shape} but y[{i}] has labels "
                f"of shape {mask.shape}"
            )
        if mask.dtype == object:
            _check_sortable(mask.ravel(), partial(_pixel_name, i, mask.shape[1]))
    return masks


def _pixel_name(i, width, t):
    """Return what messages call a pixel of a mask, by its place in the flat mask."""
    return f"y[{i}][{t // width}, {t % width}]"


def _target_items(y):
    """Return the labels of the graphs as a list."""
    plain = isinstance(y, RaggedArray) or (isinstance(y, np.ndarray) and y.ndim in (2, 3))
    return list(y) if plain else _items(y, "y", _TARGETS)


def check_label(ignore_label):
    """Raise ValueError unless the label that says that there is none can be compared with one."""
    one = isinstance(ignore_label, (str, bytes)) or not np.iterable(ignore_label)
    try:
        if isinstance(ignore_label, type) or not one:
            raise TypeError
        bool(ignore_label == ignore_label)  # noqa: PLR0124 (a missing value is not even itself)
    except TypeError:
        raise ValueError(f"ignore_label must be one label, got {ignore_label!r:.80}") from None


def is_ignored(labels, ignore_label):
    """Return where an array of labels has the label that says that there is none."""
    if ignore_label is None:
        return np.zeros(labels.shape, dtype=bool)
    check_label(ignore_label)
    return equal_to(labels, ignore_label)


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
    pieces = split(labels, graphs.node_offsets)
    return object_array([y[at] for y, at in zip(pieces, graphs.segments, strict=True)])


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
