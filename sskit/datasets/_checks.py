"""What the makers of data ask of their numbers."""

from numbers import Integral, Real

import numpy as np


def check_counts(**counts):
    """Raise for the first parameter that is not a positive integer.

    Parameters
    ----------
    **counts : int
        The parameters by name.

    Raises
    ------
    ValueError
        If one is not.
    """
    for name, count in counts.items():
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(f"{name} must be a positive integer, got {count!r}")


def check_not_negative(**numbers):
    """Raise for the first parameter that is negative or not finite.

    Parameters
    ----------
    **numbers : float
        The parameters by name.

    Raises
    ------
    ValueError
        If one is.
    """
    for name, number in numbers.items():
        if not (isinstance(number, Real) and np.isfinite(number) and number >= 0):
            raise ValueError(f"{name} must be a finite number >= 0, got {number!r}")
