"""Rows of Gaussian kernel matrices, worked out tile by tile."""

import numpy as np
from scipy.sparse import issparse

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal, check_indices, check_offsets

cdef extern from "gaussian_kernels.hpp":
    const Py_ssize_t STRIP "sskit::STRIP"
    void clone_double "sskit::gaussian_tile"(
        const int32_t* index, const double* value, Py_ssize_t count, const double* tile,
        Py_ssize_t stride, double factor, double own, const double* others, double* out
    ) noexcept nogil
    void clone_single "sskit::gaussian_tile"(
        const int32_t* index, const double* value, Py_ssize_t count, const double* tile,
        Py_ssize_t stride, double factor, double own, const double* others, float* out
    ) noexcept nogil

# Numbers of a tile: it stays in the cache of the processor while the rows go by.
cdef Py_ssize_t TILE_ENTRIES = 2**15
# At most so many columns of a tile.
cdef enum:
    LONGEST = 512
# Tiles are a dense copy of all features: with more numbers there are none.
MOST_ENTRIES = 2**25


cdef class GaussianRows:
    """Rows of the matrix exp(-gamma ||x_i - x_j||^2).

    Products of a few rows with the columns of one tile and their exponentials are worked out at
    once, in double precision, while both are in the cache of the processor.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, p)
        Rows; kept, and not to be changed.
    gamma : float
        Of the kernel.
    """

    cdef object X
    cdef readonly Py_ssize_t n_rows
    cdef Py_ssize_t n_features
    cdef Py_ssize_t stride                   # columns of a tile, a multiple of STRIP
    cdef double gamma
    cdef const double[:, :, ::1] tiles       # (n_tiles, n_features + 1, stride), a spare feature
    cdef const double[::1] sizes             # (n_tiles * stride,) gamma ||x_j||^2

    def __cinit__(self, X, double gamma):
        n, p = X.shape
        self.X, self.gamma = X, gamma
        self.n_rows, self.n_features = n, p
        strips = TILE_ENTRIES // (max(self.n_features, 1) * STRIP)
        # no longer than the columns that there are
        strips = min(max(strips, 1), max((self.n_rows + STRIP - 1) // STRIP, 1))
        self.stride = STRIP * min(strips, LONGEST // STRIP)
        stride = self.stride
        tiles = np.zeros(((n + stride - 1) // stride, p + 1, stride))
        sizes = np.zeros((len(tiles), stride))
        with np.errstate(over="ignore", invalid="ignore"):
            for j, start in enumerate(range(0, n, stride)):
                part = X[start : start + stride]
                part = (part.toarray() if issparse(part) else part).astype(np.float64)
                tiles[j, :p, : len(part)] = part.T
                sizes[j] = gamma * np.einsum("pc,pc->c", tiles[j], tiles[j])
        self.tiles, self.sizes = tiles, sizes.reshape(-1)

    @staticmethod
    def of(kernel, X):
        """Return the rows of a kernel matrix, or None where they are not of this kind.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : {ndarray, CSR matrix} of shape (n, p)
            Rows.

        Returns
        -------
        rows : GaussianRows or None
            None for other kernels, where tiles would be too large, and where something overflows.
        """
        n, p = X.shape
        # tiles have a strip of columns at least
        if kernel.function != "rbf" or (n + STRIP) * (p + 1) > MOST_ENTRIES:
            return None
        rows = GaussianRows(X, kernel.parameters["gamma"])
        return rows if rows.modest else None

    @property
    def modest(self):
        """Whether no product of two rows overflows."""
        return self.is_modest(self.sizes)

    cdef bint is_modest(self, sizes) except -1:
        most = np.max(sizes, initial=0.0)
        return self.gamma < 1e300 and most < 1e300 * min(self.gamma, 1.0)

    def fill(self, numbers, table, places):
        """Work out rows with these numbers, and put them into these rows of a table.

        Parameters
        ----------
        numbers : ndarray of shape (m,), int
            Numbers of the rows.
        table : ndarray of shape (n_slots, n), float64 or float32
            Receives them; C-contiguous.
        places : ndarray of shape (m,), int
            Where.
        """
        n_slots, n = table.shape
        check_indices(numbers, self.n_rows, "row")
        check_indices(places, n_slots, "slot")
        check_equal(n, self.n_rows, "the length of the rows")
        check_equal(len(places), len(numbers), "the number of places")
        self.fill_from(self.X[numbers], np.asarray(self.sizes)[numbers], table, places)

    def against(self, rows):
        """Return the kernels of other rows with these.

        Parameters
        ----------
        rows : {ndarray, CSR matrix} of shape (m, p)
            Rows.

        Returns
        -------
        table : ndarray of shape (m, n), float64, or None
            The kernels; None where something overflows.
        """
        m, p = rows.shape
        check_equal(p, self.n_features, "the number of features")
        rows = rows.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = rows.multiply(rows) if issparse(rows) else rows * rows
            own = self.gamma * np.asarray(squares.sum(axis=1)).reshape(m)
        if not (self.modest and self.is_modest(own)):
            return None
        table = np.empty((m, self.n_rows))
        self.fill_from(rows, own, table, np.arange(m))
        return table

    # gamma times the squared norms of some rows are given; places are within the table
    cdef int fill_from(self, some, own, table, places) except -1:
        cdef double[:, ::1] doubles
        cdef float[:, ::1] singles
        if len(own) == 0 or self.n_rows == 0:
            return 0
        sparse = issparse(some)
        if sparse:
            ends, index, values = some.indptr, some.indices, some.data
        else:
            ends = np.arange(len(own) + 1) * self.n_features
            index, values = np.tile(np.arange(self.n_features), len(own)), some.ravel()
        check_equal(len(ends), len(own) + 1, "the number of rows")
        check_offsets(ends.astype(np.int64), len(values), 0, "the rows")
        check_equal(len(index), len(values), "the number of features")
        check_indices(index, self.n_features, "feature")
        # spare ones, for rows without features have none to point to
        index, values = np.append(index, 0).astype(np.int32), np.append(values, 0.0)
        ends, places = ends.astype(np.intp), places.astype(np.intp)
        values = values.astype(np.float64)
        if table.dtype == np.float32:
            singles = table
            self.fill_tiles(
                ends, index, values, own, places, <char*>&singles[0, 0], sizeof(float)
            )
        else:
            doubles = table
            self.fill_tiles(
                ends, index, values, own, places, <char*>&doubles[0, 0], sizeof(double)
            )
        return 0

    cdef int fill_tiles(
        self, const Py_ssize_t[::1] ends, const int32_t[::1] index, const double[::1] values,
        const double[::1] own, const Py_ssize_t[::1] places, char* table, Py_ssize_t n_bytes
    ) except -1:
        cdef Py_ssize_t j, r, first, start, size
        cdef double factor = 2.0 * self.gamma
        cdef double doubles[LONGEST]
        cdef float singles[LONGEST]
        cdef bint single = n_bytes == sizeof(float)
        cdef void* found = <void*>singles if single else <void*>doubles
        with nogil:
            for j in range(self.tiles.shape[0]):
                start = j * self.stride
                size = min(self.stride, self.n_rows - start)
                for r in range(own.shape[0]):
                    first = ends[r]
                    if single:
                        clone_single(
                            &index[first], &values[first], ends[r + 1] - first,
                            &self.tiles[j, 0, 0], self.stride, factor, own[r],
                            &self.sizes[start], singles
                        )
                    else:
                        clone_double(
                            &index[first], &values[first], ends[r + 1] - first,
                            &self.tiles[j, 0, 0], self.stride, factor, own[r],
                            &self.sizes[start], doubles
                        )
                    memcpy(
                        table + (places[r] * self.n_rows + start) * n_bytes, found, size * n_bytes
                    )
        return 0
