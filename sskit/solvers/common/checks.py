"""Checks of the parameters of solvers."""

import numbers


def is_auto(value):
    """Return whether a parameter is "auto", not an array that is compared by its entries."""
    return isinstance(value, str) and value == "auto"


def check_choice(name, value, available):
    """Raise an error unless a parameter has one of the available values.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    available : tuple
        Values that work.

    Raises
    ------
    ValueError
        For any other value.
    """
    # identity of type too: 1 == True, but is not a value that we document
    if any(type(value) is type(choice) and value == choice for choice in available):
        return
    raise ValueError(f"{name} must be one of {', '.join(map(repr, available))}, got {value!r}")


def check_count(name, value, *words):
    """Raise ValueError unless a parameter is 0, a positive integer or one of some words.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    *words : str
        What it may be instead.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(value, str) and value in words:
        return
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 0:
        choices = "".join(f"{word!r} or " for word in words)
        raise ValueError(f"{name} must be {choices}an integer >= 0, got {value!r}")


def check_positive(name, value, *, whole=False, optional=False, finite=False):
    """Raise ValueError unless a parameter is a positive number (or None, if optional).

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    whole : bool, default=False
        Whether it must be an integer.
    optional : bool, default=False
        Whether it may be None.
    finite : bool, default=False
        Whether it must not be infinite.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if optional and value is None:
        return
    kind = numbers.Integral if whole else numbers.Real
    number = isinstance(value, kind) and not isinstance(value, bool) and value > 0
    if number and not whole:
        try:
            float(value)
        except OverflowError:
            raise ValueError(f"{name} is larger than any float") from None
    if not number or (finite and value == float("inf")):
        expected = ("a positive integer" if whole else "a positive number") + (
            " or None" if optional else ""
        )
        raise ValueError(f"{name} must be {expected}, got {value!r}")


def check_share(name, value):
    """Raise ValueError unless a parameter is a number that is at least 0 and below 1.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 <= value < 1:
        raise ValueError(f"{name} must be a number that is at least 0 and below 1, got {value!r}")
