"""Memory that the process does not use any more."""

import ctypes
from contextlib import suppress


def return_memory():
    """Give free memory back to the system, where the allocator of the C library can be asked to.

    Glibc keeps memory below any that is in use: after text has been read that is tens of megabytes,
    of which the large arrays of a fit can use nothing.
    """
    with suppress(AttributeError, TypeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
