"""Where data sets are looked for, and what is said when they are not there."""

import os
from pathlib import Path


def get_data_home(data_home=None):
    """Return the folder in which the loaders look for data sets.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder; None takes the environment variable ``SSKIT_DATA`` or, where that is not set,
        ``sskit`` in the user's cache.

    Returns
    -------
    path : pathlib.Path
        The folder. It is not created and need not exist.

    Examples
    --------
    >>> from sskit.datasets import get_data_home
    >>> get_data_home("data").name
    'data'
    """
    data_home = data_home or os.environ.get("SSKIT_DATA")
    if data_home:
        return Path(data_home).expanduser()
    try:
        from pooch import os_cache
    except ImportError:
        return Path("~/.cache/sskit").expanduser()
    return Path(os_cache("sskit"))


def find_file(name, data_home, source):
    """Return the path of a data file; raise with directions if it is not there.

    Parameters
    ----------
    name : str
        Path of the file below the folder of the data sets.
    data_home : str, path-like or None
        As of `get_data_home`.
    source : str
        Where the data set comes from; told in the error.

    Returns
    -------
    path : pathlib.Path
        The path of a file that exists.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    folder = get_data_home(data_home)
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{name} was not found in {folder}. Put the file there, or set the environment "
            "variable SSKIT_DATA (or the parameter data_home) to the folder that holds it. "
            f"Source of the data set: {source}."
        )
    return path


def check_subset(subset, known=("train", "test")):
    """Raise unless a subset is one of those that a data set has.

    Parameters
    ----------
    subset : str
        What the user asked for.
    known : tuple of two str or more, default=("train", "test")
        What there is.

    Raises
    ------
    ValueError
        If the subset is not among the known.
    """
    if not isinstance(subset, str) or subset not in known:
        *first, last = map(repr, known)
        raise ValueError(f"subset must be {', '.join(first)} or {last}, got {subset!r}")
