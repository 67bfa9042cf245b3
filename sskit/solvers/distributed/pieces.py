"""Pieces of weight vectors, as sites send them to each other."""

import numpy as np

# A number alone takes 8 bytes, with its place 12.
SPARSE_SHARE = 8.0 / 12.0
# Vectors that take less bytes are sent in one piece: more messages would take longer.
SHORT = 1_000_000


def n_pieces_of(n_weights, n_sites):
    """Return in how many pieces so many sites add up their moves."""
    return 1 if 8 * n_weights < SHORT else n_sites


def bounds(n_weights, k, n_pieces):
    """Return where piece k of n_pieces of the weights begins and ends."""
    return n_weights * k // n_pieces, n_weights * (k + 1) // n_pieces


def pack(values):
    """Return numbers in the form that takes least to send.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The numbers.

    Returns
    -------
    packed : tuple (n, places, numbers)
        `places` of shape (m,), int32, of the numbers that are not zero; None if all are there.
    """
    places = np.flatnonzero(values)
    if len(places) >= SPARSE_SHARE * len(values):
        return len(values), None, np.array(values)
    # pieces are shorter than 2^31
    return len(values), places.astype(np.int32), values[places]


def n_bytes(packed):
    """Return how many bytes packed numbers take."""
    _, places, numbers = packed
    return numbers.nbytes + (0 if places is None else places.nbytes)


def add_up(pieces):
    """Return the sum of packed numbers, in their order; shape (n,)."""
    total = np.zeros(pieces[0][0])
    for _, places, numbers in pieces:
        if places is None:
            total += numbers
        else:
            total[places] += numbers
    return total


def add_fields(tuples):
    """Return a named tuple whose fields are the sums of those of some of its kind."""
    tuples = list(tuples)
    return type(tuples[0])(*(sum(column) for column in zip(*tuples, strict=True)))
