"""Memory for the vectors of cuts."""

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import daxpy

# Vectors of more weights than this are kept sparse: a cut has entries only at features of what
# was mistaken.
LARGEST_DENSE = 2**16


class CutVectors:
    """Vectors of all weights, dense or sparse.

    In a kernel space the values of functions are kept beside the rest: they follow from it, and no
    inner product needs those of both vectors.

    Parameters
    ----------
    n_weights : int
        Length d of the vectors.
    values : slice, default=None
        Places of the values of functions; None if there are none.
    """

    def __init__(self, n_weights, values=None):
        self.n_weights = n_weights
        self.values = slice(0, 0) if values is None else values
        self.dense = n_weights <= LARGEST_DENSE and self.values.start == self.values.stop
        self._rows = []  # places, entries there, values of functions

    def append(self, vector):
        """Add a copy of a vector of shape (n_weights,)."""
        rest, values = vector.copy(), vector[self.values].copy()
        rest[self.values] = 0.0
        place = slice(None) if self.dense else np.flatnonzero(rest).astype(np.int32)
        self._rows.append((place, rest[place], values))

    def keep(self, places):
        """Keep only the vectors at these places, which rise."""
        self._rows = [self._rows[place] for place in places]

    def dot(self, covector):
        """Return the inner products of all vectors with a covector, shape (n_rows,)."""
        return np.array([entries @ covector[place] for place, entries, _ in self._rows])

    def combine(self, weight):
        """Return the sum of the vectors with these weights, shape (n_weights,)."""
        total = np.zeros(self.n_weights)
        for share, (place, entries, values) in zip(weight, self._rows, strict=True):
            if share == 0.0:
                continue
            if self.dense:
                daxpy(entries, total, a=share)
            else:
                total[place] += share * entries
                total[self.values] += share * values
        return total

    def gram_at(self, columns):
        """Return the inner products of the vectors over some columns only, (n_rows, n_rows)."""
        places, entries, _ = zip(*self._rows, strict=True)
        if self.dense:
            part = np.array([row[columns] for row in entries])
            return part @ part.T
        first = np.cumsum([0, *map(len, places)])
        rows = (np.concatenate(entries), np.concatenate(places), first)
        part = sp.csr_array(rows, shape=(len(entries), self.n_weights))[:, columns]
        return (part @ part.T).toarray()
