"""Rows of Gaussian kernel matrices, worked out tile by tile."""

import numpy as np
from scipy.sparse import issparse

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal, check_indices, check_offsets

from sskit.models.kernel.functions import arranged

cdef extern from "gaussian_kernels.hpp":
    const Py_ssize_t STRIP "sskit::STRIP"
    cdef struct DoublesAsked "sskit::Asked<double>":
        const Py_ssize_t* begin
        const int32_t* index
        const double* value
        const double* own
        Py_ssize_t n
    cdef struct SinglesAsked "sskit::Asked<float>":
        const Py_ssize_t* begin
        const int32_t* index
        const float* value
        const float* own
        Py_ssize_t n
    void products_of_doubles "sskit::products_of_doubles"(
        const DoublesAsked* rows, const double* tile, Py_ssize_t stride, double gamma,
        const double* others, double* out
    ) noexcept nogil
    void rounded_products "sskit::rounded_products"(
        const DoublesAsked* rows, const double* tile, Py_ssize_t stride, double gamma,
        const double* others, float* out
    ) noexcept nogil
    void products_of_singles "sskit::products_of_singles"(
        const SinglesAsked* rows, const float* tile, Py_ssize_t stride, float gamma,
        const float* others, float* out
    ) noexcept nogil
    void squares_of_singles "sskit::squares_of_singles"(
        const SinglesAsked* rows, const float* tile, Py_ssize_t stride, float gamma,
        const float* others, float* out
    ) noexcept nogil

# Numbers of a tile: it stays in the cache of the processor while the rows go by.
cdef Py_ssize_t TILE_ENTRIES = 2**15
# At most so many columns of a tile.
cdef Py_ssize_t LONGEST = 512
# Tiles are a dense copy of all features: with more numbers there are none.
MOST_ENTRIES = 2**25

# Rows of so many numbers that are not zero, on average, are cheap: working one out takes less time
# than to read it from memory that is far away, or to have memory for it at first.
FEW_ENTRIES = 32

# Up to these gamma ||x||^2 single precision is good for kernels to 2^-20. Sums of squares lose only
# what rounding x to it loses, once the mean is subtracted, and have no exponents below -80;
# products cancel.
LARGEST_OF_SQUARES = 20.0
LARGEST_OF_PRODUCTS = 16.0


cdef class Tiles:
    """The columns of a kernel matrix in tiles of one type.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, p)
        Rows.
    gamma : float
        Of the kernel.
    stride : int
        Columns of a tile, a multiple of STRIP.
    mean : ndarray of shape (p,) or float
        Is subtracted.
    dtype : dtype
        Of the tiles, float64 or float32.
    """

    cdef readonly object features            # (n_tiles, p + 1, stride), a spare feature
    cdef readonly object sizes               # (n_tiles, stride) gamma ||x_j||^2

    def __cinit__(self, X, double gamma, Py_ssize_t stride, mean, dtype):
        n, p = X.shape
        features = np.zeros(((n + stride - 1) // stride, p + 1, stride), dtype=dtype)
        sizes = np.zeros((len(features), stride))
        with np.errstate(over="ignore", invalid="ignore"):
            for j, start in enumerate(range(0, n, stride)):
                part = X[start : start + stride]
                part = (part.toarray() if issparse(part) else part).astype(np.float64) - mean
                features[j, :p, : len(part)] = part.T
                sizes[j, : len(part)] = gamma * np.einsum("np,np->n", part, part)
        self.features, self.sizes = features, sizes.astype(dtype)


cdef class GaussianRows:
    """Rows of the matrix exp(-gamma ||x_i - x_j||^2).

    Products of a few rows with the columns of one tile and their exponentials are worked out at
    once, while both are in the cache of the processor: in double precision, but for tables in
    single precision in that where it is good for them (`single`).

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
    cdef Py_ssize_t stride
    cdef double gamma
    cdef object mean                         # what tiles of singles subtract
    cdef public bint single                  # may be set to False
    cdef readonly bint cheap
    cdef readonly object sizes               # (n,) gamma ||x_j||^2
    cdef Tiles doubles, singles              # None until they are needed

    def __cinit__(self, X, double gamma):
        n, p = X.shape
        if issparse(X) and not X.has_sorted_indices:
            X = X.sorted_indices()  # sums are made in one order, or K(x, y) were not K(y, x)
        self.X, self.gamma = X, gamma
        self.n_rows, self.n_features = n, p
        strips = TILE_ENTRIES // (max(self.n_features, 1) * STRIP)
        # no longer than the columns that there are
        strips = min(max(strips, 1), max((self.n_rows + STRIP - 1) // STRIP, 1))
        self.stride = STRIP * min(strips, LONGEST // STRIP)
        self.cheap = (X.nnz if issparse(X) else X.size) <= FEW_ENTRIES * n
        self.mean = 0.0
        self.sizes = np.concatenate(
            # dense ones: the same sums with zeros and without
            [np.zeros(0)] + [
                self.sizes_of(part.toarray() if issparse(part) else part)
                for part in (X[start : start + LONGEST] for start in range(0, n, LONGEST))
            ]
        )
        largest, most = self.sizes, LARGEST_OF_PRODUCTS
        if not issparse(X) and n:
            most = LARGEST_OF_SQUARES
            with np.errstate(over="ignore", invalid="ignore"):
                self.mean = np.mean(X, axis=0, dtype=np.float64)
                largest = self.sizes_of(X - self.mean)
        self.single = bool(np.max(largest, initial=0.0) <= most)

    def sizes_of(self, rows):
        """Return gamma ||x||^2 of some rows, shape (m,)."""
        rows = rows.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            if issparse(rows):
                sums = np.asarray(rows.multiply(rows).sum(axis=1)).reshape(rows.shape[0])
            else:
                sums = np.einsum("np,np->n", rows, rows)
            return self.gamma * sums

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
            Receives them.
        places : ndarray of shape (m,), int
            Where.
        """
        n_slots, n = table.shape
        check_indices(places, n_slots, "slot")
        check_equal(n, self.n_rows, "the length of the rows")
        check_equal(len(places), len(numbers), "the number of places")
        for start, block in self.stripes(numbers, table.dtype):
            table[places, start : start + self.stride] = block[:, : n - start]

    def stripes(self, numbers, dtype):
        """Yield rows with these numbers, some columns after the other.

        Parameters
        ----------
        numbers : ndarray of shape (m,), int
            Numbers of the rows.
        dtype : dtype
            Of the kernels, float64 or float32.

        Yields
        ------
        start : int
            The first column.
        block : ndarray of shape (m, stride)
            The kernels, and numbers without meaning beyond the last column; used again.
        """
        check_indices(numbers, self.n_rows, "row")
        numbers = np.asarray(numbers)
        some, own = self.X[numbers], self.sizes[numbers]
        for start, block in self.kernels(some, own, np.dtype(dtype)):
            # of a row with itself sums in single precision may have left less than one
            here = np.flatnonzero((numbers >= start) & (numbers < start + self.stride))
            block[here, numbers[here] - start] = 1.0
            yield start, block

    def among(self, numbers):
        """Return the kernels of some rows with each other.

        Parameters
        ----------
        numbers : ndarray of shape (m,), int
            Numbers of the rows.

        Returns
        -------
        table : ndarray of shape (m, m), float32
            The kernels.
        """
        check_indices(numbers, self.n_rows, "row")
        some = GaussianRows(self.X[numbers], self.gamma)
        table = np.empty((len(numbers), len(numbers)), dtype=np.float32)
        some.fill(np.arange(len(numbers)), table, np.arange(len(numbers)))
        return table

    def arrange(self, numbers, size, random_state):
        """Return rows in an order that keeps neighbours together; see `arranged`."""
        check_indices(numbers, self.n_rows, "row")
        return arranged(self.X, numbers, size, random_state)

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
        own = self.sizes_of(rows)
        if not (self.modest and self.is_modest(own)):
            return None
        table = np.empty((m, self.n_rows))
        for start, block in self.kernels(rows, own, table.dtype):
            table[:, start : start + self.stride] = block[:, : self.n_rows - start]
        return table

    # as stripes(), for rows with gamma times these squared norms
    def kernels(self, some, own, dtype):
        """Yield what `stripes` does, of rows that are given."""
        if len(own) == 0 or self.n_rows == 0:
            return
        single = self.single and dtype == np.float32
        if single and self.singles is None:
            self.singles = Tiles(self.X, self.gamma, self.stride, self.mean, np.float32)
        elif not single and self.doubles is None:
            self.doubles = Tiles(self.X, self.gamma, self.stride, 0.0, np.float64)
        if issparse(some):
            ends, index, values = some.indptr, some.indices, some.data
        else:
            ends = np.arange(len(own) + 1) * self.n_features
            index = np.tile(np.arange(self.n_features), len(own))
            values = ((some - self.mean) if single else some).ravel()
        check_equal(len(ends), len(own) + 1, "the number of rows")
        check_offsets(ends.astype(np.int64), len(values), 0, "the rows")
        check_equal(len(index), len(values), "the number of features")
        check_indices(index, self.n_features, "feature")
        # spare ones, for rows without features have none to point to
        index, values = np.append(index, 0).astype(np.int32), np.append(values, 0.0)
        ends, block = ends.astype(np.intp), np.empty((len(own), self.stride), dtype=dtype)
        kind = np.float32 if single else np.float64
        values, own = values.astype(kind), own.astype(kind)
        for j in range((self.n_rows + self.stride - 1) // self.stride):
            if single:
                self.fill_singles(j, ends, index, values, own, block)
            else:
                self.fill_doubles(j, ends, index, values, own, block)
            yield j * self.stride, block

    cdef int fill_singles(
        self, Py_ssize_t j, const Py_ssize_t[::1] ends, const int32_t[::1] index,
        const float[::1] values, const float[::1] own, float[:, ::1] block
    ) except -1:
        cdef const float[:, ::1] tile = self.singles.features[j]
        cdef const float[::1] others = self.singles.sizes[j]
        cdef SinglesAsked rows
        cdef bint products = issparse(self.X)
        rows.begin, rows.index, rows.n = &ends[0], &index[0], own.shape[0]
        rows.value, rows.own = &values[0], &own[0]
        with nogil:
            # called by name: the address of a function with several versions is no safe thing
            if products:
                products_of_singles(
                    &rows, &tile[0, 0], self.stride, <float>self.gamma, &others[0], &block[0, 0]
                )
            else:
                squares_of_singles(
                    &rows, &tile[0, 0], self.stride, <float>self.gamma, &others[0], &block[0, 0]
                )
        return 0

    cdef int fill_doubles(
        self, Py_ssize_t j, const Py_ssize_t[::1] ends, const int32_t[::1] index,
        const double[::1] values, const double[::1] own, block
    ) except -1:
        cdef const double[:, ::1] tile = self.doubles.features[j]
        cdef const double[::1] others = self.doubles.sizes[j]
        cdef double[:, ::1] doubles
        cdef float[:, ::1] singles
        cdef DoublesAsked rows
        rows.begin, rows.index, rows.n = &ends[0], &index[0], own.shape[0]
        rows.value, rows.own = &values[0], &own[0]
        if block.dtype == np.float32:
            singles = block
            with nogil:
                rounded_products(
                    &rows, &tile[0, 0], self.stride, self.gamma, &others[0], &singles[0, 0]
                )
        else:
            doubles = block
            with nogil:
                products_of_doubles(
                    &rows, &tile[0, 0], self.stride, self.gamma, &others[0], &doubles[0, 0]
                )
        return 0
