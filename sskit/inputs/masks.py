"""Validation of images, and labels of nodes from labels of pixels, and back."""

from collections.abc import Hashable

import numpy as np

from sskit._labels import is_ignored, object_array, plain
from sskit._numbers import as_array, shortened, shown
from sskit.inputs.ragged import items_of, stack_known_labels
from sskit.inputs.ragged_array import split

_TARGETS = "one array of labels, of nodes or of pixels, per graph"
_KNOWN = "one item per graph: None, or for each node or pixel None or a label"
_NO_SEGMENTS = (
    "but X does not say by an attribute 'segments' to which nodes they belong, as graphs of "
    "SuperpixelGraphs do"
)


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
        A label that stands for none; None means that all are labels.

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
    items = items_of(y, "y", _TARGETS, stacked=(2, 3), count=len(graphs))
    masks = None
    if np.ndim(items[0]) == 2:
        masks = check_masks(items, graphs, ignore_label)
        items = [
            majority_labels(segments, mask, int(n), ignore_label)
            for segments, mask, n in zip(graphs.segments, masks, graphs.n_nodes, strict=True)
        ]
    labels, ignored = stack_known_labels(items, graphs.n_nodes, ignore_label)
    return labels, ~ignored, masks


def check_masks(items, graphs, ignore_label=None):
    """Return labels of pixels as arrays, checked against the segments of graphs.

    Parameters
    ----------
    items : sequence of n arrays (H_i, W_i)
        Labels of the pixels.
    graphs : GraphBatch
        The graphs.
    ignore_label : object, default=None
        A label that stands for none; None means that all are labels.

    Returns
    -------
    masks : list of n ndarray
        From `check_mask`.

    Raises
    ------
    TypeError, ValueError
        Naming the item that is wrong, and its pixel.
    """
    items = items_of(items, "y", _TARGETS, stacked=(2, 3), count=len(graphs))
    masks = [check_mask(item, f"y[{i}]", ignore_label) for i, item in enumerate(items)]
    if graphs.segments is None:
        raise ValueError(f"y has labels of pixels, {_NO_SEGMENTS}; if pixels are nodes, flatten y")
    for i, (mask, segments) in enumerate(zip(masks, graphs.segments, strict=True)):
        if mask.shape != segments.shape:
            raise ValueError(
                f"X[{i}] has segments of shape {segments.shape} but y[{i}] has labels of shape "
                f"{mask.shape}"
            )
    return masks


def check_mask(mask, name, ignore_label=None):
    """Return labels of pixels as an array.

    Parameters
    ----------
    mask : array-like of shape (H, W)
        Labels, of any type that can be sorted.
    name : str
        What error messages call it.
    ignore_label : object, default=None
        The label of pixels without one; None means that all are labels. Only NaN stands for NaN.

    Returns
    -------
    mask : ndarray of shape (H, W)
        As given if it is an array of numbers or strings.

    Raises
    ------
    TypeError, ValueError
        If it has not two dimensions; else naming the first pixel that is wrong.
    """
    values = mask
    mask = as_array(values, name)
    if mask.ndim != 2:
        raise ValueError(f"{name} must be a two-dimensional array, got shape {mask.shape}")
    if not isinstance(values, np.ndarray) and mask.dtype.kind in "US":
        mask = np.array(values, dtype=object)  # else numbers among strings were strings
    labels, ignored = stack_known_labels(list(mask), None, ignore_label, name=name)
    if mask.dtype.kind != "O":
        return mask
    if ignored.any():
        labels = labels.astype(object)
        labels[ignored] = ignore_label
    return labels.reshape(mask.shape)


def known_nodes(known, graphs, classes, ignore_label=None):
    """Return known labels of graphs, where those of pixels have become those of nodes.

    Parameters
    ----------
    known : sequence of n items, or None
        Known labels of the graphs. An array (H_i, W_i) has labels of the pixels: a node has the
        label that most of its known pixels have, of several the smallest. A boolean array with a
        row for each node and a column for each label marks the possible labels, and is returned
        unchanged.
    graphs : GraphBatch
        The graphs.
    classes : ndarray of shape (K,)
        The labels of the model, sorted.
    ignore_label : object, default=None
        A label of pixels that are not known, as None is.

    Returns
    -------
    known : list of n items, or None
        None, or for each node None or a label, or what is not of pixels as it was.

    Raises
    ------
    TypeError, ValueError
        Naming the item that is wrong, and its pixel.
    """
    if known is None:
        return None
    items = list(items_of(known, "known", _KNOWN, stacked=(3,), count=len(graphs)))
    for i, item in enumerate(items):
        if not _is_mask(item, (int(graphs.n_nodes[i]), len(classes))):
            continue
        if graphs.segments is None:
            if np.asarray(item).dtype == bool:  # of another shape than what is possible
                continue
            raise ValueError(f"known[{i}] has labels of pixels, {_NO_SEGMENTS}")
        mask, segments = as_array(item, f"known[{i}]"), graphs.segments[i]
        if mask.shape != segments.shape:
            raise ValueError(
                f"X[{i}] has segments of shape {segments.shape} but known[{i}] has the shape "
                f"{mask.shape}"
            )
        if not isinstance(item, np.ndarray) and mask.dtype.kind in "US":
            mask = np.array(item, dtype=object)  # else None among strings was a string
        items[i] = _known_of_pixels(mask, segments, graphs.n_nodes[i], classes, ignore_label, i)
    return items


def _is_mask(item, possible):
    """Return whether known labels are of pixels, not what is possible, of a shape, nor of nodes."""
    if isinstance(item, np.ndarray):
        return item.ndim == 2 and not (item.dtype == bool and item.shape == possible)
    return isinstance(item, (list, tuple)) and any(
        isinstance(row, (list, tuple, np.ndarray)) for row in item[:1]
    )


def _known_of_pixels(mask, segments, n_nodes, classes, ignore_label, i):
    """Return a list with the label of each node, or None, from those of pixels."""
    flat = mask.ravel()
    has_label = ~is_ignored(flat, ignore_label)
    if flat.dtype.kind == "O":
        has_label &= np.array([label is not None for label in flat.tolist()], dtype=bool)
    place, codes = {label: k for k, label in enumerate(classes.tolist())}, np.full(flat.size, -1)
    if flat.dtype.kind == "O":
        codes_of = [plain(x) if isinstance(x, Hashable) else None for x in flat[has_label].tolist()]
        codes[has_label] = [place.get(label, -1) for label in codes_of]
    else:
        values, inverse = np.unique(flat[has_label], return_inverse=True)
        codes_of = np.array([place.get(label, -1) for label in values.tolist()], dtype=np.intp)
        codes[has_label] = codes_of[inverse]
    wrong = np.flatnonzero(has_label & (codes < 0))
    if len(wrong):
        row, column = divmod(int(wrong[0]), mask.shape[1])
        raise ValueError(
            f"known[{i}][{row}][{column}] is {shown(mask[row, column])}, which is no label that "
            f"the model was fitted to, such as {shortened([*place], 2)}"
        )
    pairs = segments.ravel().astype(np.int64)[has_label] * len(classes) + codes[has_label]
    votes = np.bincount(pairs, minlength=n_nodes * len(classes)).reshape(n_nodes, -1)
    labels = classes[votes.argmax(axis=1)].tolist()
    return [label if any_ else None for label, any_ in zip(labels, votes.any(axis=1), strict=True)]


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


def majority_labels(segments, mask, n_nodes, ignore_label=None):
    """Return the label that most pixels of every superpixel have.

    Parameters
    ----------
    segments : ndarray of int of shape (H, W)
        The superpixel of every pixel, 0 to ``n_nodes - 1``, from `check_segments`.
    mask : ndarray of shape (H, W)
        The label of every pixel, of any type that can be sorted.
    n_nodes : int
        The number V of superpixels.
    ignore_label : object or None, default=None
        Pixels of this label do not count; a superpixel without others gets it.

    Returns
    -------
    labels : ndarray of shape (V,)
        Of the dtype of the mask, which `check_mask` has returned. Of equally frequent labels, the
        smallest.
    """
    flat, nodes = mask.ravel(), segments.ravel().astype(np.int64)
    known = ~is_ignored(flat, ignore_label)
    if not known.any():
        return np.full(n_nodes, ignore_label, dtype=mask.dtype)
    classes, codes = np.unique(flat[known], return_inverse=True)
    # Superpixels have few of the labels: with thousands of instances a table of all pairs would be
    # large.
    pairs, votes = np.unique(nodes[known] * len(classes) + codes, return_counts=True)
    owners, codes = np.divmod(pairs, len(classes))
    # What is written last stays: the label of most votes, of several the smallest.
    order = np.lexsort((-codes, votes))
    winners = np.full(n_nodes, -1)
    winners[owners[order]] = codes[order]
    labels = classes[winners]
    if (winners < 0).any():  # else the label may be of a kind that this array cannot hold
        labels[winners < 0] = ignore_label
    return labels


_IMAGES = "one image (H, W) or (H, W, 3) per sample"


def check_images(X, name="X"):
    """Return a list of images of which every one can be turned into RGB.

    Parameters
    ----------
    X : sequence of n array-likes, or ndarray of shape (n, H, W) or (n, H, W, 3)
        Unsigned integers, or floats from 0 to 1; sizes may differ.
    name : str, default="X"
        What errors call `X`.

    Returns
    -------
    images : list of n ndarrays
        Not copied, still of the user's dtype.

    Raises
    ------
    TypeError
        If `X` is not a sequence, or an image does not hold such numbers.
    ValueError
        If there is no image, or one has a wrong shape or values out of range.
    """
    if isinstance(X, np.ndarray) and X.ndim == 3 and X.shape[2] == 3 and len(X) > 0:
        raise ValueError(f"{name} has shape {X.shape}, that of one image: put it into a list")
    images = items_of(X, name, _IMAGES, stacked=(3, 4))
    return [_check_image(image, f"{name}[{i}]") for i, image in enumerate(images)]


def as_rgb(image):
    """Return an image as float32 RGB from 0 to 1.

    Parameters
    ----------
    image : ndarray of shape (H, W) or (H, W, 3)
        One that `check_images` let in; grey images get three equal channels.

    Returns
    -------
    rgb : ndarray of float32 of shape (H, W, 3)
        A copy.
    """
    scale = np.iinfo(image.dtype).max if image.dtype.kind == "u" else 1
    rgb = np.empty((*image.shape[:2], 3), dtype=np.float32)
    rgb[...] = image if image.ndim == 3 else image[..., None]
    rgb /= np.float32(scale)
    return rgb


def _check_image(image, label):
    """Return one image as an ndarray; raise if it is none."""
    image = as_array(image, label)
    kind, colour = image.dtype.kind, image.shape[2:] in ((), (3,))
    sound = kind in "uf" and image.ndim in (2, 3) and colour and image.size
    if not sound or (kind == "f" and not (image.min() >= 0 and image.max() <= 1)):  # nor NaN
        values = f" with values from {image.min():.4g} to {image.max():.4g}" if sound else ""
        raise ValueError(
            f"{label} must be an image of shape (H, W) or (H, W, 3) of unsigned integers such as "
            f"uint8, or floats from 0 to 1, got shape {image.shape} and dtype {image.dtype}{values}"
        )
    return image
