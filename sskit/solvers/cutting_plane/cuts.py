r"""Cuts: linear lower bounds, :math:`\sum_i c_i H_i(w) \ge \text{loss} - \langle w, g \rangle`."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class HingeCut:
    r"""A linear lower bound of the mean hinge, :math:`\text{loss} - \langle w, g \rangle`.

    Attributes
    ----------
    loss : float
        Mean loss of the planes it was summed from.
    vector : ndarray of shape (n_weights,)
        g, the mean of their B psi.
    """

    loss: float
    vector: np.ndarray

    def bound(self, covector):
        """Return its value at weights whose covector, of shape (n_weights,), is given."""
        return self.loss - float(np.dot(covector, self.vector))


class CutVectors:
    """Vectors of all weights, dense or sparse.

    Parameters
    ----------
    dense : bool
        Whether entries that are zero are kept. If not vectors may be longer than those before,
        which then end in zeros.
    """

    def __init__(self, dense):
        self.dense = dense
        self._rows = []  # places, entries there

    def append(self, vector):
        """Add a copy of a vector of shape (n_weights,)."""
        self.n_weights = len(vector)
        place = slice(None) if self.dense else np.flatnonzero(vector).astype(np.int32)
        self._rows.append((place, vector[place].copy()))

    def keep(self, places):
        """Keep only the vectors at these places, which rise."""
        self._rows = [self._rows[place] for place in places]

    def dot(self, covector):
        """Return the inner products of all vectors with a covector, shape (n_rows,)."""
        return np.array([entries @ covector[place] for place, entries in self._rows])

    def combine(self, weight):
        """Return the sum of the vectors with these weights, shape (n_weights,)."""
        total = np.zeros(self.n_weights)
        for fraction, (place, entries) in zip(weight, self._rows, strict=True):
            if fraction != 0.0:
                total[place] += fraction * entries
        return total

    def gram_at(self, columns):
        """Return the inner products of the vectors over some columns only, (n_rows, n_rows)."""
        places, entries = zip(*self._rows, strict=True)
        if self.dense:
            part = np.array([row[columns] for row in entries])
            return part @ part.T
        first = np.cumsum([0, *map(len, places)])
        rows = (np.concatenate(entries), np.concatenate(places), first)
        part = sp.csr_array(rows, shape=(len(entries), self.n_weights))[:, columns]
        return (part @ part.T).toarray()
