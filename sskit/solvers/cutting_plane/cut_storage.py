"""Memory for the vectors of cuts."""

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import daxpy

# Vectors of more weights than this are kept sparse: a cut has entries only at features of what
# was mistaken.
LARGEST_DENSE = 2**16


class DenseRows:
    """Vectors as the rows of one matrix.

    Parameters
    ----------
    n_weights : int
        Length d of the vectors.
    """

    def __init__(self, n_weights):
        self.n_rows = 0
        self._matrix = np.empty((16, n_weights))

    def append(self, vector):
        """Add a copy of a vector of shape (n_weights,)."""
        if self.n_rows == len(self._matrix):
            room = np.empty((self.n_rows + self.n_rows // 2, self._matrix.shape[1]))
            room[: self.n_rows] = self._matrix
            self._matrix = room
        self._matrix[self.n_rows] = vector
        self.n_rows += 1

    def keep(self, places):
        """Keep only the rows at these places, which rise."""
        for new, old in enumerate(places):
            if new != old:
                self._matrix[new] = self._matrix[old]
        self.n_rows = len(places)

    def dot(self, vector):
        """Return the inner products of all rows with a vector, shape (n_rows,)."""
        return self._matrix[: self.n_rows] @ vector

    def combine(self, weight):
        """Return the sum of the rows with these weights, shape (n_weights,)."""
        return weight @ self._matrix[: self.n_rows]

    def gram_at(self, columns):
        """Return the inner products of the rows over some columns only, (n_rows, n_rows)."""
        part = self._matrix[: self.n_rows, columns]
        return part @ part.T


class SparseRows:
    """Vectors of which only the entries that are not zero are kept.

    Parameters
    ----------
    n_weights : int
        Length d of the vectors.
    """

    def __init__(self, n_weights):
        self.n_weights = n_weights
        self._rows = []

    @property
    def n_rows(self):
        """Number of rows."""
        return len(self._rows)

    def append(self, vector):
        """Add a copy of a vector of shape (n_weights,)."""
        index = np.flatnonzero(vector)
        self._rows.append((index.astype(np.int32), vector[index]))

    def keep(self, places):
        """Keep only the rows at these places, which rise."""
        self._rows = [self._rows[place] for place in places]

    def dot(self, vector):
        """Return the inner products of all rows with a vector, shape (n_rows,)."""
        return np.array([value @ vector[index] for index, value in self._rows])

    def combine(self, weight):
        """Return the sum of the rows with these weights, shape (n_weights,)."""
        total = np.zeros(self.n_weights)
        for share, (index, value) in zip(weight, self._rows, strict=True):
            if share != 0.0:
                total[index] += share * value
        return total

    def gram_at(self, columns):
        """Return the inner products of the rows over some columns only, (n_rows, n_rows)."""
        first = np.cumsum([0, *(len(index) for index, _ in self._rows)])
        index, value = (np.concatenate(parts) for parts in zip(*self._rows, strict=True))
        rows = sp.csr_array((value, index, first), shape=(self.n_rows, self.n_weights))
        part = rows[:, columns]
        return (part @ part.T).toarray()


class FunctionRows:
    """Vectors of a kernel space: dense values of functions, and all the rest, which is sparse.

    The values follow from the rest, and no inner product needs those of both vectors.

    Parameters
    ----------
    n_weights : int
        Length d of the vectors.
    values : slice
        Places of the values.
    """

    def __init__(self, n_weights, values):
        self.rest = SparseRows(n_weights)
        self.place = values
        self._values = []

    @property
    def n_rows(self):
        """Number of rows."""
        return self.rest.n_rows

    def append(self, vector):
        """Add a copy of a vector of shape (n_weights,)."""
        self._values.append(vector[self.place].copy())
        rest = vector.copy()
        rest[self.place] = 0.0
        self.rest.append(rest)

    def keep(self, places):
        """Keep only the rows at these places, which rise."""
        self._values = [self._values[place] for place in places]
        self.rest.keep(places)

    def dot(self, covector):
        """Return the inner products of all rows with a covector, shape (n_rows,)."""
        return self.rest.dot(covector)

    def combine(self, weight):
        """Return the sum of the rows with these weights, shape (n_weights,)."""
        total = self.rest.combine(weight)
        values = total[self.place]
        for share, row in zip(weight, self._values, strict=True):
            if share != 0.0:
                daxpy(row, values, a=share)
        return total


def make_rows(n_weights, values=None):
    """Return the rows that suit vectors of this length with values at these places, if any."""
    if values is not None and values.start < values.stop:
        return FunctionRows(n_weights, values)
    return DenseRows(n_weights) if n_weights <= LARGEST_DENSE else SparseRows(n_weights)
