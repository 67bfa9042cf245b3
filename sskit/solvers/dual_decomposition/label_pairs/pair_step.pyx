"""The exact step of an edge between two labels (see the .pxd), for tests."""


def pair_step(double both, double gain, double tie, double a, double b):
    """Return the three marginals.

    Parameters
    ----------
    both, gain, tie, a, b : float
        As in the .pxd.

    Returns
    -------
    marginals : tuple of float
        (both, first, second).
    """
    cdef Marginals m
    cdef Tie value = tie_of(tie)
    m.both = both
    nearest_pair(&m, gain, &value, a, b)
    return m.both, m.first, m.second
