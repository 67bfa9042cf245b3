"""How labels are drawn: colours over a grey image, borders, a legend."""

import numpy as np

from sskit.display._borders import border_lines
from sskit.inputs.images import as_rgb

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
