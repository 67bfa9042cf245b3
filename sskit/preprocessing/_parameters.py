"""What the parameters of SuperpixelGraphs may be."""

from importlib.util import find_spec
from numbers import Integral, Real

import numpy as np

# Parameter, least and largest value: filters and tables of larger ones have no memory.
_INTEGERS = [
    ("n_segments", 1, 2**24),
    ("n_color_words", 0, 2**16),
    ("n_texture_words", 0, 2**16),
    ("texture_size", 4, 2**12),
    ("texture_step", 1, 2**12),
    ("position_grid", 0, 2**10),
    ("neighborhood", 0, 2**10),
    ("sample_size", 1, 2**31 - 1),
]
# Parameter, what it must be, test.
_REALS = [
    ("compactness", "positive", lambda value: 0 < value < np.inf),
    ("sigma", "finite and not negative", lambda value: 0 <= value < np.inf),
    ("power", "in (0, 1]", lambda value: 0 < value <= 1),
]


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
    for name, least, most in _INTEGERS:
        value = getattr(superpixels, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
        if value > most:
            raise ValueError(f"{name} must be at most {most}, got {value!r}")
    n_jobs = superpixels.n_jobs
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise ValueError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    for name, kind, allowed in _REALS:
        value = getattr(superpixels, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not allowed(value):
            raise ValueError(f"{name} must be a number {kind}, got {value!r}")
    if superpixels.segmenter is not None and not callable(superpixels.segmenter):
        raise TypeError(f"segmenter must be callable or None, got {superpixels.segmenter!r}")
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
