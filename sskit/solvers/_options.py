"""Checks of solver parameters."""

import numbers


def check_choice(name, value, available, planned=()):
    """Raise an error unless a parameter has one of the available values.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    available : tuple
        Values that work.
    planned : tuple, default=()
        Values that this version does not have.

    Raises
    ------
    NotImplementedError
        For a planned value.
    ValueError
        For any other.
    """
    # identity of type too: 1 == True, but is not a value that we document
    if any(type(value) is type(choice) and value == choice for choice in available):
        return
    if any(type(value) is type(choice) and value == choice for choice in planned):
        raise NotImplementedError(f"{name}={value!r} is not available in this version")
    raise ValueError(f"{name} must be one of {', '.join(map(repr, available))}, got {value!r}")


def check_positive(name, value, *, whole=False, optional=False):
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

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if optional and value is None:
        return
    kind = numbers.Integral if whole else numbers.Real
    if not isinstance(value, kind) or isinstance(value, bool) or not value > 0:
        expected = ("a positive integer" if whole else "a positive number") + (
            " or None" if optional else ""
        )
        raise ValueError(f"{name} must be {expected}, got {value!r}")
