"""What the parameters of SuperpixelGraphs may be."""

from importlib.util import find_spec
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import validate_parameter_constraints

from sskit._numbers import Number

# Filters and tables of larger numbers have no memory.
_CONSTRAINTS = {
    "n_segments": [Number(Integral, 1, 2**24, closed="both")],
    "n_color_words": [Number(Integral, 0, 2**16, closed="both")],
    "n_texture_words": [Number(Integral, 0, 2**16, closed="both")],
    "texture_size": [Number(Integral, 4, 2**12, closed="both")],
    "texture_step": [Number(Integral, 1, 2**12, closed="both")],
    "position_grid": [Number(Integral, 0, 2**10, closed="both")],
    "neighborhood": [Number(Integral, 0, 2**10, closed="both")],
    "sample_size": [Number(Integral, 1, 2**31 - 1, closed="both")],
    "compactness": [Number(Real, 0, None, closed="neither")],
    "sigma": [Number(Real, 0, None, closed="left")],
    "power": [Number(Real, 0, 1, closed="right")],
    "n_jobs": [Number(Integral, None, None, closed="neither"), None],
    "segmenter": [callable, None],
}


def check_parameters(superpixels):
    """Raise for the first parameter that is out of its range, or asks for what is not there.

    Parameters
    ----------
    superpixels : SuperpixelGraphs
        The transformer that holds them.

    Raises
    ------
    TypeError
        If `segmenter` is not callable.
    ValueError
        If a number is out of its range or not of its kind.
    ImportError
        If scikit-image is needed and not installed.
    """
    given = superpixels.get_params(deep=False)
    validate_parameter_constraints(_CONSTRAINTS, given, type(superpixels).__name__)
    try:
        known = np.dtype(superpixels.dtype) in (np.float32, np.float64)
    except TypeError:
        known = False
    if not known:
        raise ValueError(f"dtype must be 'float32' or 'float64', got {superpixels.dtype!r}")
    check_etas(superpixels.etas)
    needed = superpixels.segmenter is None or superpixels.n_color_words > 0
    if needed and find_spec("skimage") is None:
        raise ImportError(
            "superpixels and colours need scikit-image, which is not installed: "
            'pip install "sskit-learn[images]"'
        )


def check_etas(etas):
    """Return the factors of distances as an array.

    Parameters
    ----------
    etas : array-like of float of shape (n_etas,) or None
        As the user gave them.

    Returns
    -------
    etas : ndarray of float64 of shape (n_etas,)
        Those, or 2**-5, 2**-4, ..., 2**5 for None.

    Raises
    ------
    ValueError
        If they are not a list of finite numbers >= 0.
    """
    if etas is None:
        return 2.0 ** np.arange(-5, 6)
    try:
        array = np.asarray(etas, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.array(np.nan)
    # With a negative one, features would grow with the distance, beyond all bounds.
    if array.ndim != 1 or not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(f"etas must be a list of finite numbers >= 0 or None, got {etas!r}")
    return array
