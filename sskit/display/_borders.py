"""The borders between regions of pixels, as lines that can be drawn at any size."""

import numpy as np


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
