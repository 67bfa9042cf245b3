"""Probabilities of spans."""

from typing import NamedTuple

import numpy as np


class Steps(NamedTuple):
    """What the probabilities of the spans of one kind are products of, with its m states.

    Attributes
    ----------
    alone : ndarray of shape (T,)
        Probability of the span of one token.
    begins : ndarray of shape (T - 1, m, m)
        That a span begins here and goes on, by the states of both tokens.
    onward : ndarray of shape (T - 2, m, m, m)
        That of the third state, which goes on with the span, given those of two tokens of it.
    leaves : ndarray of shape (T - 1, m, m)
        That the span is over, given the states of its last two tokens.
    """

    alone: np.ndarray
    begins: np.ndarray
    onward: np.ndarray
    leaves: np.ndarray

    def probability(self, first, stop):
        """Return the probability that a labelling has exactly the span first .. stop - 1."""
        if stop - first == 1:
            return float(self.alone[first])
        weight = self.begins[first]
        for onward in self.onward[first : stop - 2]:
            weight = (weight[:, :, None] * onward).sum(axis=0)
        return float((weight * self.leaves[stop - 2]).sum())


def find_steps(marginals, pairs, triples, own, goes_on):
    """Return the `Steps` of a kind of spans.

    What is before two neighbours and what is behind them are independent given their states.

    Parameters
    ----------
    marginals : ndarray of shape (T, S)
        Probabilities of states.
    pairs : ndarray of shape (T - 1, S, S)
        Those of the states of neighbours.
    triples : ndarray of shape (T - 2, S, S, S), or None
        Those of three in a row; None if the third is independent of the first given the second.
    own : ndarray of shape (m,), int
        The states of the kind.
    goes_on : ndarray of shape (m, m), bool
        Whether the second of two of them goes on with the span of the first.

    Returns
    -------
    steps : Steps
    """
    # what goes on is of the same kind, so other states before or behind need no look
    inside = goes_on.astype(np.float64)
    p, both = marginals[:, own], pairs[:, own[:, None], own]
    if triples is None:
        three = both[:-1, :, :, None] * (both[1:] * _inverse(p[1:-1])[:, :, None])[:, None]
    else:
        three = triples[:, own[:, None, None], own[:, None], own]
    going = both * inside
    before, begins = p.copy(), going.copy()
    before[1:] -= going.sum(axis=1)
    # likewise, less those that go on with what was before
    begins[1:] -= (three * inside[:, :, None]).sum(axis=1) * inside
    alone = before.copy()
    alone[:-1] -= begins.sum(axis=2)
    onward, leaves = three * inside, np.ones(both.shape)
    onward *= _inverse(both[:-1])[..., None]
    leaves[:-1] -= onward.sum(axis=3)
    return Steps(alone.clip(0.0).sum(axis=1), begins.clip(0.0), onward, leaves.clip(0.0))


def _inverse(x):
    """Return 1 / x, zero where x is zero."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0.0)
