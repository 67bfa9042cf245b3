"""Data frames of pandas and polars, without importing either."""

import sys

_LIBRARIES = ("pandas", "polars")


def is_frame(data):
    """Return whether something is a data frame of pandas or polars, and no lazy one."""
    kind = type(data)
    return library_of(data) in _LIBRARIES and hasattr(kind, "columns") and hasattr(kind, "to_numpy")


def is_polars(data):
    """Return whether something is a data frame of polars."""
    return is_frame(data) and library_of(data) == "polars"


def library_of(data):
    """Return the name of the library that something is of."""
    return type(data).__module__.partition(".")[0]


def join_frames(frames):
    """Return data frames of one library, with equal columns, as one."""
    library = sys.modules[library_of(frames[0])]
    if library.__name__ == "polars":
        return library.concat(frames, how="vertical_relaxed")  # integers and floats make floats
    return library.concat(frames, ignore_index=True)
