"""Masks of labels over images: checks, colours over a grey image, borders, a legend."""

import numpy as np

from sskit._labels import is_ignored
from sskit.inputs.images import as_rgb
from sskit.inputs.masks import check_mask

_GREY = np.array([0.2125, 0.7154, 0.0721], dtype=np.float32)


def label_colors(n_labels, colors):
    """Return one colour per label.

    Parameters
    ----------
    n_labels : int
        The number K of labels.
    colors : None, str, Colormap, or sequence of colours
        A sequence of at least K colours, or the name of a colormap; None takes matplotlib's ten
        or twenty colours of categories, or the hues of a circle where those are too few.

    Returns
    -------
    rgb : ndarray of float64 of shape (K, 3)
        Red, green and blue from 0 to 1.

    Raises
    ------
    ValueError
        If there are too few colours.
    """
    import matplotlib as mpl
    from matplotlib.colors import Colormap, to_rgb

    if colors is None:
        colors = "tab10" if n_labels <= 10 else "tab20" if n_labels <= 20 else "hsv"
    if isinstance(colors, (str, Colormap)):
        cmap = mpl.colormaps.get_cmap(colors)
        # A colormap of categories has few colours, and they are taken in turn.
        listed = cmap.N < 64
        colors = cmap(np.arange(cmap.N) if listed else np.arange(n_labels) / max(n_labels, 1))
    if len(colors) < n_labels:
        raise ValueError(f"there are {n_labels} labels but only {len(colors)} colors")
    return np.array([to_rgb(color) for color in colors[:n_labels]]).reshape(-1, 3)


def paint(image, mask, labels, colors, alpha):
    """Return an image in grey with the pixels of each label tinted.

    Parameters
    ----------
    image : ndarray of shape (H, W) or (H, W, 3)
        One that passed the gate.
    mask : ndarray of shape (H, W)
        The label of every pixel.
    labels : ndarray of shape (K,)
        Which labels are tinted.
    colors : ndarray of shape (K, 3)
        Their colours.
    alpha : float
        The weight of the colour, from 0 to 1.

    Returns
    -------
    rgb : ndarray of float32 of shape (H, W, 3)
        Values from 0 to 1.
    """
    grey = as_rgb(image) @ _GREY
    painted = np.repeat(grey[..., None], 3, axis=2)
    for label, color in zip(labels, colors, strict=True):
        inside = mask == label
        painted[inside] = (1 - alpha) * painted[inside] + alpha * color
    return painted.clip(0, 1)


def draw_borders(ax, regions, color, width):
    """Draw the borders between regions over an image.

    Parameters
    ----------
    ax : matplotlib Axes
        Where the image is.
    regions : ndarray of shape (H, W)
        Superpixels or labels.
    color : colour
        Of the lines.
    width : float
        Of the lines, in points.
    """
    from matplotlib.collections import LineCollection

    lines = LineCollection(border_lines(regions), colors=color, linewidths=width, capstyle="round")
    ax.add_collection(lines, autolim=False)


def draw_legend(figure, names, colors):
    """Add a legend of labels below what a figure shows.

    Parameters
    ----------
    figure : matplotlib Figure
        Where to add it.
    names : list of str of length K
        The labels.
    colors : ndarray of shape (K, 3)
        Their colours.
    """
    from matplotlib.patches import Patch

    patches = [Patch(color=color, label=name) for name, color in zip(names, colors, strict=True)]
    columns = min(len(names), 8)
    # Constrained layout keeps room for legends "outside"; other layouts take the corner.
    constrained = figure.get_layout_engine() is not None
    place = "outside lower center" if constrained else "lower center"
    figure.legend(handles=patches, loc=place, ncols=columns, frameon=False)


def border_lines(segments):
    """Return the lines along which neighbouring pixels belong to different regions.

    Parameters
    ----------
    segments : ndarray of shape (H, W)
        The region of every pixel, of any type that can be compared.

    Returns
    -------
    lines : ndarray of float64 of shape (m, 2, 2)
        Straight lines, each from (x, y) to (x, y), as long as possible, in the coordinates of
        ``imshow``: the centre of pixel (row 0, column 0) is (0, 0). The frame is left out.
    """
    level, first, last = _runs(segments[:-1] != segments[1:])
    horizontal = np.stack([first, level, last, level], axis=1)
    level, first, last = _runs((segments[:, :-1] != segments[:, 1:]).T)
    vertical = np.stack([level, first, level, last], axis=1)
    return np.concatenate([horizontal, vertical]).reshape(-1, 2, 2)


def _runs(differs):
    """Return the rows, beginnings and ends of the runs of True, in coordinates of ``imshow``."""
    padded = np.pad(differs, ((0, 0), (1, 1))).astype(np.int8)
    changes = np.diff(padded, axis=1)
    rows, first = np.nonzero(changes == 1)
    _, last = np.nonzero(changes == -1)
    return rows + 0.5, first - 0.5, last - 0.5


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


def masks_of(items, images, segments, name, ignore_label=None):
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
    ignore_label : object or None, default=None
        The label of pixels without one.

    Returns
    -------
    masks : list of n ndarrays of shape (H, W)
        Labels by pixel.

    Raises
    ------
    TypeError, ValueError
        If there is not one mask per image, or one is not of the size of its image; or naming the
        first pixel that is wrong.
    """
    _check_number(items, images, name)
    masks = []
    for i, (item, image) in enumerate(zip(items, images, strict=True)):
        label = f"{name}[{i}]"
        mask = item if isinstance(item, np.ndarray) else np.array(item, dtype=object)
        if mask.ndim == 1 and segments is not None:
            n_nodes = int(segments[i].max()) + 1
            if len(mask) != n_nodes:
                raise ValueError(
                    f"{label} has {len(mask)} labels but segments[{i}] has {n_nodes} superpixels"
                )
            mask = mask[segments[i]]
        _check_shape(mask, image, label, i)
        mask = item if np.ndim(item) == 2 else mask
        masks.append(check_mask(mask, label, ignore_label))
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
    found = [np.unique(mask[~is_ignored(mask, ignore_label)]) for masks in panels for mask in masks]
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


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
        counts = ~is_ignored(true, ignore_label)
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
