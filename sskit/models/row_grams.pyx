"""Gram matrices of runs of rows, by several threads."""

import numpy as np
from joblib import effective_n_jobs

from libc.stdint cimport int64_t, uint8_t

from sskit.core.lanes cimport LANES
from sskit.models.features cimport FeatureRows
from sskit.parallel.crew cimport Crew, Task

# Stored entries of features from which on threads are worth starting.
LEAST_ENTRIES = 1_000_000
# Portions of runs for each thread: runs are of different lengths.
cdef Py_ssize_t PORTIONS = 16
MOST_WORKERS = 64


cdef class RowGrams(Task):
    """Packed Gram matrices of runs of rows, each computed by one thread.

    The bits do not depend on the number of threads.

    Parameters
    ----------
    features : FeatureRows
        All rows; its n_jobs threads go through them.
    offsets : ndarray of shape (n_runs + 1,), int64
        Where the runs of rows begin and end; they must be rows of the features.
    place : ndarray of shape (n_runs,), int64
        Where the matrix of a run is written; -1 if none is wanted.
    longest : int
        Length of the longest run of which a matrix is wanted.
    ends : float
        What is added to the squared norms of the first and of the last row of a run.
    """

    cdef FeatureRows features
    cdef const int64_t[::1] offsets
    cdef const int64_t[::1] place
    cdef double ends
    cdef Py_ssize_t n_workers
    cdef double[:, ::1] scratch      # (n_workers, n_features + LANES), zero between runs
    cdef Py_ssize_t size             # entries of the largest matrix
    cdef double[:, ::1] gram         # (n_workers, size + LANES) for matrices on their way to bytes
    cdef double[::1] full
    cdef uint8_t[::1] small
    cdef bint as_bytes
    cdef bint fits                   # is all so far a byte?

    def __cinit__(self, FeatureRows features, const int64_t[::1] offsets,
                  const int64_t[::1] place, Py_ssize_t longest, double ends=0.0):
        self.features, self.offsets, self.place, self.ends = features, offsets, place, ends
        self.n_workers = 1
        if features.n_entries >= LEAST_ENTRIES:
            self.n_workers = min(effective_n_jobs(features.n_jobs), MOST_WORKERS)
        self.scratch = np.zeros((self.n_workers, features.n_features + LANES))
        self.size = longest * (longest + 1) // 2

    def numbers(self, double[::1] out):
        """Write the matrices where they belong."""
        self.as_bytes, self.full = False, out
        self.compute()

    def bytes(self, uint8_t[::1] out):
        """Write the matrices as bytes; return whether this loses nothing."""
        self.gram = np.empty((self.n_workers, self.size + LANES))
        self.as_bytes, self.small = True, out
        self.fits = True
        self.compute()
        return self.fits

    cdef int compute(self) except -1:
        cdef Py_ssize_t n = self.place.shape[0]
        cdef Crew crew
        if self.n_workers == 1:
            with nogil:
                self.perform(0, n, 0)
            return 0
        crew = Crew(self.n_workers)
        crew.begin(self)
        try:
            with nogil:
                crew.run(n, n // (PORTIONS * self.n_workers))
        finally:
            crew.end()
        return 0

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        cdef Py_ssize_t i, count
        cdef double* gram
        for i in range(start, stop):
            if self.place[i] < 0:
                continue
            if self.as_bytes and not self.fits:
                return True
            count = self.offsets[i + 1] - self.offsets[i]
            gram = &self.gram[worker, 0] if self.as_bytes else &self.full[self.place[i]]
            self.features.gram(self.offsets[i], count, &self.scratch[worker, 0], gram)
            if self.ends != 0.0:
                gram[0] += self.ends
                gram[count * (count + 1) // 2 - 1] += self.ends
            if self.as_bytes:
                self.round(gram, count * (count + 1) // 2, &self.small[self.place[i]])
        return False

    cdef void round(self, const double* gram, Py_ssize_t n, uint8_t* out) noexcept nogil:
        cdef Py_ssize_t e
        for e in range(n):
            if not 0.0 <= gram[e] < 256.0:
                self.fits = False
                return
            out[e] = <uint8_t>gram[e]
            if out[e] != gram[e]:
                self.fits = False
                return


def squared_norms(X, n_jobs=None):
    """Return the squared norms of rows in double precision, infinite where they overflow.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        As `FeatureRows` takes it. Not copied.
    n_jobs : int, default=None
        Number of threads.

    Returns
    -------
    sqnorms : ndarray of shape (n_rows,)
        The same for the same numbers of all types.
    """
    features = FeatureRows(X, sparsify=False, n_jobs=n_jobs)
    norms = np.empty(features.n_rows)
    rows = np.arange(features.n_rows + 1)
    RowGrams(features, rows, rows[:-1], 1).numbers(norms)
    return norms
