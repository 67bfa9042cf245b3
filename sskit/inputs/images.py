"""The gate for images: what is let in, and the one form that all of them get."""

import numpy as np

from sskit._numbers import as_array
from sskit.inputs.ragged import items_of

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
