"""Warnings that name the line of the user, however deep the package is where they arise."""

import sys
import warnings

# Of this package, and of what scikit-learn puts around `fit`.
INNER = ("sskit", "sklearn.callback")


def warn(message, category=UserWarning):
    """Warn, and name the line by which the first caller outside of this package called it.

    Parameters
    ----------
    message : str
        Text of the warning.
    category : type, default=UserWarning
        Its class.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(
        tuple(f"{name}." for name in INNER)
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
