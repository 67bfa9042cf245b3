"""Memory for the vectors of cuts."""

import numpy as np
import scipy.sparse as sp


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
        for share, (place, entries) in zip(weight, self._rows, strict=True):
            if share != 0.0:
                total[place] += share * entries
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
