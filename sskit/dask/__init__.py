"""Fits to data in parts, on many machines or one after the other on one.

Needs Dask, the extra ``dask``: ``pip install sskit-learn[dask]``.
"""

from sskit._optional import optional
from sskit._public import export_from

with optional():
    from sskit.dask._distributed import Distributed

__all__ = ["Distributed"]

export_from(__name__)
