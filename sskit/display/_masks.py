"""The gate for what is drawn over images: one mask of labels per image."""

import numpy as np


def segments_of(items, images, name="segments"):
    """Return the superpixels of every image.

    Parameters
    ----------
    items : sequence of n ndarrays of shape (H, W), or objects with an attribute ``segments``
        Superpixels by pixel, or graphs that know them.
    images : list of n ndarrays
        What they belong to.
    name : str, default="segments"
        What errors call `items`.

    Returns
    -------
    segments : list of n ndarrays of shape (H, W)
        Superpixels by pixel.

    Raises
    ------
    ValueError
        If there is not one per image, or one is not of the size of its image.
    """
    _check_number(items, images, name)
    segments = [np.asarray(getattr(item, "segments", item)) for item in items]
    for i, (item, image) in enumerate(zip(segments, images, strict=True)):
        _check_shape(item, image, f"{name}[{i}]", i)
    return segments


def masks_of(items, images, segments, name):
    """Return the label of every pixel of every image.

    Parameters
    ----------
    items : sequence of n ndarrays of shape (H, W) or (V,)
        Labels by pixel or, where there are superpixels, by superpixel.
    images : list of n ndarrays
        What they belong to.
    segments : list of n ndarrays of int of shape (H, W), or None
        The superpixels.
    name : str
        What errors call `items`.

    Returns
    -------
    masks : list of n ndarrays of shape (H, W)
        Labels by pixel.

    Raises
    ------
    ValueError
        If there is not one mask per image, or one is not of the size of its image.
    """
    _check_number(items, images, name)
    masks = []
    for i, (item, image) in enumerate(zip(items, images, strict=True)):
        mask, label = np.asarray(item), f"{name}[{i}]"
        if mask.ndim == 1 and segments is not None:
            n_nodes = int(segments[i].max()) + 1
            if len(mask) != n_nodes:
                raise ValueError(
                    f"{label} has {len(mask)} labels but segments[{i}] has {n_nodes} superpixels"
                )
            mask = mask[segments[i]]
        _check_shape(mask, image, label, i)
        masks.append(mask)
    return masks


def labels_in(panels, ignore_label):
    """Return the labels that occur, sorted.

    Parameters
    ----------
    panels : iterable of lists of ndarrays of shape (H, W)
        Masks.
    ignore_label : object or None
        Left out.

    Returns
    -------
    labels : ndarray of shape (K,)
        The others.
    """
    found = [np.unique(mask) for masks in panels for mask in masks]
    labels = np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
    return labels if ignore_label is None else labels[labels != ignore_label]


def agreement(truth, masks, ignore_label):
    """Return the share of pixels that two lists of masks agree on.

    Parameters
    ----------
    truth, masks : lists of n ndarrays of shape (H, W)
        The masks, in pairs of equal size.
    ignore_label : object or None
        Pixels of this label in the truth do not count.

    Returns
    -------
    share : float
        From 0 to 1; NaN if no pixel counts.
    """
    right = total = 0
    for true, mask in zip(truth, masks, strict=True):
        counts = np.ones(true.shape, dtype=bool) if ignore_label is None else true != ignore_label
        right += np.sum((true == mask) & counts)
        total += np.sum(counts)
    return float(right / total) if total else float("nan")


def _check_number(items, images, name):
    """Raise unless there is one item per image."""
    if len(items) != len(images):
        raise ValueError(f"{name} has {len(items)} entries but there are {len(images)} images")


def _check_shape(mask, image, label, i):
    """Raise unless a mask is of the size of its image."""
    if mask.shape != image.shape[:2]:
        raise ValueError(f"{label} has shape {mask.shape} but images[{i}] has shape {image.shape}")
