"""Losses that are whole numbers of units."""

import numpy as np

# Losses are counts if a sequence has at most this many units for each of its tokens: time and
# memory of the programme grow with them.
MOST_UNITS = 16
# Nor may the table of the programme be larger than this, in numbers of 8 bytes.
LARGEST_TABLE = 2**26
# By how much a loss may differ from a whole number of units: rounding.
ROUNDING = 1e-9


def integer_losses(cost, offsets, n_states):
    """Return losses of sequences as counts of units; None if they are not, or are too many.

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
    levels : ndarray of shape (n_rows,), int32
        The costs, in units of their sequence.
    unit : ndarray of shape (n,)
        The smallest cost of a sequence that is not zero, 1 where all are.
    most : int
        The largest loss of a sequence, in units.

    None in place of all three if losses are no such counts. Hamming losses are; those with balanced
    class weights are not, as a rule.
    """
    lengths = np.diff(offsets)
    unit = np.minimum.reduceat(np.where(cost > 0, cost, np.inf), offsets[:-1])
    unit[unit == np.inf] = 1.0
    levels = cost / np.repeat(unit, lengths)
    whole = np.abs(levels - np.round(levels)) <= ROUNDING * np.maximum(levels, 1.0)
    totals = np.add.reduceat(levels, offsets[:-1])
    size = float(lengths.max()) * float(totals.max() + 1) * n_states
    if not whole.all() or (totals > MOST_UNITS * lengths).any() or size > LARGEST_TABLE:
        return None
    return np.round(levels).astype(np.int32), unit, int(np.round(totals.max()))
