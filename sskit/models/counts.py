"""Losses that are counts."""

import numpy as np

# Losses are counts if a sequence has at most this many units for each of its tokens: time and
# memory of the programme grow with them.
MOST_UNITS = 16
# Nor may the table of the programme be larger than this, in numbers of 8 bytes.
LARGEST_TABLE = 2**26
# By how much a loss may differ from a whole number of units: rounding.
ROUNDING = 1e-9


def in_units(cost, offsets):
    """Return the unit of each sequence, its smallest cost that is not zero, and the costs in it.

    Parameters
    ----------
    cost : ndarray of shape (n_rows,)
        Loss of a wrong label at each node.
    offsets : ndarray of shape (n + 1,)
        Where the sequences begin.

    Returns
    -------
    unit : ndarray of shape (n,)
        1 where all costs are zero.
    levels : ndarray of shape (n_rows,)
        Not rounded.
    totals : ndarray of shape (n,)
        Their sums, the largest losses.
    """
    unit = np.minimum.reduceat(np.where(cost > 0, cost, np.inf), offsets[:-1])
    unit[unit == np.inf] = 1.0
    levels = cost / np.repeat(unit, np.diff(offsets))
    return unit, levels, np.add.reduceat(levels, offsets[:-1])


def are_counts(cost, offsets, n_states):
    """Return whether the losses of all sequences are counts of not too many units.

    Parameters
    ----------
    cost : ndarray of shape (n_rows,)
        Loss of a wrong label at each node.
    offsets : ndarray of shape (n + 1,)
        Where the sequences begin.
    n_states : int
        Number of states.

    Returns
    -------
    answer : bool
        As the Hamming losses are; not with balanced class weights, as a rule.
    """
    _, levels, totals = in_units(cost, offsets)
    whole = np.abs(levels - np.round(levels)) <= ROUNDING * np.maximum(levels, 1.0)
    lengths = np.diff(offsets)
    size = float(lengths.max()) * float(totals.max() + 1) * n_states
    return bool(whole.all() and (totals <= MOST_UNITS * lengths).all() and size <= LARGEST_TABLE)
