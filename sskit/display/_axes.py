"""Rows of axes."""

import numpy as np


def row_of_axes(n, axes=None, size=(3.2, 3.0)):
    """Return n axes side by side, in a new figure unless they are given.

    Parameters
    ----------
    n : int
        Number of axes.
    axes : matplotlib Axes or sequence of them, default=None
        Axes to draw on.
    size : tuple (width, height), default=(3.2, 3.0)
        Of new axes, in inches.

    Returns
    -------
    axes : list of matplotlib Axes
        Those given, or new ones.

    Raises
    ------
    ValueError
        If axes were given, but not n of them.
    """
    import matplotlib.pyplot as plt

    if axes is None:
        size = (n * size[0], size[1])
        _, axes = plt.subplots(1, n, figsize=size, layout="constrained", squeeze=False)
    axes = list(np.ravel(axes))
    if len(axes) != n:
        raise ValueError(f"axes must hold {n} axes, one for each panel, got {len(axes)}")
    return axes
