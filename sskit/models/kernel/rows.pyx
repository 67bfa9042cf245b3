"""Kernel rows, and functions of a kernel space within a weight vector."""

import numpy as np

from sskit.core.stop import CutShort
from sskit.models.features import row_digests

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from cython cimport floating

from sskit.core.capabilities cimport FeatureSpace
from sskit.core.stop cimport Stop
from sskit.models.feature_map cimport FeatureMap
from sskit.models.features cimport FeatureRows, SequenceGrams

cdef extern from "kernel_loops.hpp" namespace "sskit":
    const Py_ssize_t C_STRIP "sskit::STRIP"
    # target += factor * row, n numbers, the row in single or in double precision
    void add_scaled(
        const char* row, bint single, Py_ssize_t n, double factor, double* target
    ) noexcept nogil
    # target += factor * row, n numbers
    void add_single(const float* row, Py_ssize_t n, float factor, float* target) noexcept nogil
    # see WorkingRows.spread
    Py_ssize_t tile_size(Py_ssize_t n_functions) noexcept nogil
    void add_kernel_rows(
        const char* rows, bint single, Py_ssize_t length, const int32_t* slot, Py_ssize_t n_rows,
        const Py_ssize_t* begin, const int32_t* function, const double* factor,
        const int64_t* place, Py_ssize_t n_functions, Py_ssize_t n, double* target, double* room
    ) noexcept nogil
    # see take_exponentials
    void gaussian(
        double* block, Py_ssize_t n, Py_ssize_t stride, double gamma, const double* own,
        const double* others, const int32_t* begin, const int32_t* index, const double* value,
        const double* tile
    ) noexcept nogil
    void gaussian(
        float* block, Py_ssize_t n, Py_ssize_t stride, float gamma, const float* own,
        const float* others, const int32_t* begin, const int32_t* index, const float* value,
        const float* tile
    ) noexcept nogil

STRIP = C_STRIP
# Rows that work together (see `WorkingRows`). Larger sets take fewer passes, but more steps.
WORKING_ROWS = 512
# Rows that may be added before F is computed anew: their rounding errors, 2^-53 each, add up to
# 2^-32.
cdef Py_ssize_t MOST_ADDED = 2**21
# Coefficients smaller than this fraction of the largest are rounding errors.
cdef double NOISE = 2.0**-40
cdef int32_t HERE = 0  # a row by itself


def take_exponentials(
    floating[:, ::1] block, floating gamma, const floating[::1] own, const floating[::1] others,
    const int32_t[::1] begin, const int32_t[::1] index, const floating[::1] value,
    const floating[:, ::1] tile
):
    """Make Gaussian kernels of products, exp(2 gamma <x_r, y_c> - own[r] - others[c]), in place.

    Parameters
    ----------
    block : ndarray of shape (m, stride)
        The products, but for what the rows below add to them; the columns are a multiple of STRIP.
    gamma : float
        Of the kernel.
    own, others : ndarray of shape (m,), (stride,)
        gamma times the squared norms.
    begin, index, value : ndarray of shape (m + 1,), (size,), (size,)
        Numbers begin[r] to begin[r + 1] - 1 belong to row r: value[j] times the feature index[j] of
        the columns is added to the products.
    tile : ndarray of shape (p, stride)
        The features of the columns.
    """
    if block.shape[0] == 0:
        return
    with nogil:
        gaussian(
            &block[0, 0], block.shape[0], block.shape[1], gamma, &own[0], &others[0], &begin[0],
            &index[0], &value[0], &tile[0, 0]
        )


cdef class KernelRows:
    """Rows of a kernel matrix within a memory budget; the least recently used ones leave first.

    Rows are computed in blocks: a missing row is computed together with those that are expected.

    Invariants: slot_of[t] is the slot that holds row t, or -1; row_in[slot_of[t]] == t. There are
    at least as many slots as the longest block has rows, so that all rows of one request fit.

    Parameters
    ----------
    compute : callable
        Returns the rows with given numbers, shape (len(rows), n_rows), float64.
    n_rows : int
        Size of the matrix.
    n_slots : int
        Number of rows to keep.
    block_size : int
        Number of rows that are computed at a time.
    single : bool, default=False
        Whether they are rounded to single precision, as libsvm keeps them: twice as many in the
        same memory.
    memory : ndarray of shape (n_rows, n_rows), float64, default=None
        All rows, C-contiguous, if they are there already; kept.
    """

    cdef readonly Py_ssize_t n_rows, n_slots
    cdef readonly Py_ssize_t n_computed      # rows computed so far, repetitions counted
    cdef readonly Py_ssize_t block_size      # rows that are computed at a time
    cdef readonly int64_t n_required         # rows required so far
    # working sets compute rows whenever they need them: that takes less time than to allocate
    # memory for them
    cdef readonly bint direct
    cdef readonly bint single                # are they in single precision?
    cdef readonly object dtype
    cdef object compute                      # (rows) -> (len(rows), n_rows)
    cdef object memory                       # (n_slots, n_rows)
    cdef const char* table                   # where it is
    cdef int32_t[::1] slot_of                # (n_rows,)
    cdef int32_t[::1] row_in                 # (n_slots,) -1: empty
    cdef int64_t[::1] last_used              # (n_slots,) by the clock
    cdef unsigned char[::1] was_computed     # (n_rows,) 1 for rows that were ever computed
    cdef int64_t clock
    # rows that will be required soon, computed with the next one that is missing
    cdef int32_t[::1] expected               # (n_rows,)
    cdef Py_ssize_t n_expected

    def __cinit__(self, compute, Py_ssize_t n_rows, Py_ssize_t n_slots, Py_ssize_t block_size,
                  bint single=False, memory=None):
        self.compute, self.n_rows, self.n_slots = compute, n_rows, min(n_slots, n_rows)
        self.block_size = block_size
        self.single, self.dtype = single, np.dtype(np.float32 if single else np.float64)
        self.direct = getattr(compute, "cheap", False)
        there = memory is not None
        self.memory = memory if there else np.empty((self.n_slots, n_rows), dtype=self.dtype)
        cdef size_t address = self.memory.ctypes.data
        self.table = <const char*>address
        self.slot_of = np.arange(n_rows, dtype=np.int32) if there else np.full(n_rows, -1, "i4")
        self.row_in = self.slot_of.copy() if there else np.full(self.n_slots, -1, dtype=np.int32)
        self.last_used = np.zeros(self.n_slots, dtype=np.int64)
        self.was_computed = np.full(n_rows, there, dtype=np.uint8)
        self.expected = np.empty(n_rows, dtype=np.int32)

    @staticmethod
    def of_matrix(matrix, Py_ssize_t block_size):
        """Return the rows of an existing matrix, without a copy if possible.

        Parameters
        ----------
        matrix : ndarray of shape (n_rows, n_rows)
            The kernels.
        block_size : int
            Number of rows that are worked on at a time.

        Returns
        -------
        rows : KernelRows
            All of them.
        """
        n, matrix = len(matrix), np.ascontiguousarray(matrix, dtype=np.float64)
        return KernelRows(None, n, n, block_size, False, matrix)

    def rounded(self, kernels):
        """Return an array of kernels in the precision of these rows, which may overflow."""
        with np.errstate(over="ignore"):
            return kernels.astype(self.dtype).astype(np.float64)

    @property
    def complete(self):
        """Whether every row is in memory."""
        return bool(np.min(self.slot_of, initial=0) >= 0)

    def batch_size(self, Py_ssize_t n_blocks):
        """Return how many of n_blocks equal blocks best take their steps together.

        Twice as many have room. It is 0 if nothing is left to compute.
        """
        if self.complete:
            return 0
        return max(1, min(WORKING_ROWS, self.room // 2) * n_blocks // self.n_rows)

    @property
    def room(self):
        """The largest number of rows of a working set."""
        return self.n_rows if self.direct else self.n_slots

    @property
    def n_together(self):
        """The largest number of rows that are best added to scores at once."""
        return 3 * WORKING_ROWS // 2 if self.direct else min(self.n_slots, self.block_size)

    def stripes(self, rows):
        """Yield some rows, in one piece or some columns after the other.

        Parameters
        ----------
        rows : ndarray of shape (m,), int
            Their numbers, all different; no more than `n_together`.

        Yields
        ------
        start : int
            The first column.
        table : ndarray of shape (n, size), float64 or float32
            Kernels from that column on, and maybe numbers without meaning beyond the last one.
        slots : ndarray of shape (m,), int32
            The rows of the table that hold the required ones.
        """
        if not self.direct:
            self.ensure(rows)
            yield 0, self.memory, np.asarray(self.slot_of)[rows]
            return
        self.n_required += len(rows)
        self.n_computed += len(rows)
        for start, block in self.compute.stripes(rows):
            # rounded, where they were worked out in double precision
            yield start, block.astype(self.dtype, copy=False), np.arange(len(rows), dtype=np.int32)

    def is_cached(self, rows):
        """Return which of the rows with these numbers are in memory, of the same shape, bool."""
        return np.asarray(self.slot_of)[rows] >= 0

    def cached_blocks(self, starts, stops):
        """Return which runs of rows have all rows that were ever computed in memory.

        Parameters
        ----------
        starts, stops : ndarray of shape (m,)
            A run has the rows starts[j] to stops[j] - 1.

        Returns
        -------
        cached_blocks : ndarray of shape (m,), bool
            False also if none of its rows was ever computed.
        """
        if self.direct:
            return np.ones(len(starts), dtype=bool)
        cached, computed = np.asarray(self.slot_of) >= 0, np.asarray(self.was_computed)
        n_cached, n_computed = (np.concatenate([[0], a.cumsum()]) for a in (cached, computed))
        n_cached = n_cached[stops] - n_cached[starts]
        return (n_cached > 0) & (n_cached == n_computed[stops] - n_computed[starts])

    def fill(self, slots, rows):
        """Compute rows into slots, in place of what is there.

        Parameters
        ----------
        slots, rows : ndarray of int
            Of equal length.
        """
        cdef Py_ssize_t start
        slot_of, row_in = np.asarray(self.slot_of), np.asarray(self.row_in)
        for start in range(0, len(rows), self.block_size):
            some, places = (a[start : start + self.block_size] for a in (rows, slots))
            leaving = row_in[places]
            slot_of[leaving[leaving >= 0]] = -1
            row_in[places] = -1
            self.compute_into(some, self.memory, places)
            self.n_computed += len(some)
            slot_of[some] = places
            np.asarray(self.was_computed)[some] = 1
            row_in[places] = some
            np.asarray(self.last_used)[places] = self.clock

    def compute_into(self, rows, table, places):
        """Compute rows into these rows of a table."""
        if hasattr(self.compute, "fill"):
            self.compute.fill(rows, table, places)
        else:
            table[places] = self.compute(rows)

    def take(self, rows):
        """Return rows for a single use: computed rows are kept in free slots only.

        Parameters
        ----------
        rows : ndarray of int
            Their numbers, all different.

        Returns
        -------
        matrix : ndarray of shape (len(rows), n_rows)
            The rows, as they would be kept.
        """
        slot_of = np.asarray(self.slot_of)
        missing = rows[slot_of[rows] < 0]
        free = np.flatnonzero(np.asarray(self.row_in) < 0)[: 0 if self.direct else len(missing)]
        self.fill(free, missing[: len(free)])
        missing = missing[len(free):]
        if len(missing) == 0:
            return self.memory[slot_of[rows]]
        matrix = np.empty((len(rows), self.n_rows), dtype=self.memory.dtype)
        there = slot_of[rows] >= 0
        matrix[there] = self.memory[slot_of[rows[there]]]
        self.compute_into(missing, matrix, np.flatnonzero(~there))
        self.n_computed += len(missing)
        return matrix

    # hint: row t will be required soon
    cdef void expect(self, Py_ssize_t t) noexcept nogil:
        if self.n_expected == self.n_rows:
            self.n_expected = 0  # nothing was missing for so long that the hints are old
        self.expected[self.n_expected] = <int32_t>t
        self.n_expected += 1

    # make the rows first + active[:n_active] present, at once
    cdef int require(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active
    ) except -1 nogil:
        cdef Py_ssize_t a, n_missing = 0
        cdef int32_t slot
        self.clock += 1
        self.n_required += n_active
        for a in range(n_active):
            slot = self.slot_of[first + active[a]]
            if slot < 0:
                n_missing += 1
            else:
                self.last_used[slot] = self.clock
        if n_missing == 0:
            return 0
        with gil:
            self.fetch(np.array([first + active[a] for a in range(n_active)]))
        return 0

    def ensure(self, rows):
        """Make sure that some rows are in memory, no more than there are slots."""
        cdef int32_t[::1] active = rows.astype(np.int32)
        if active.shape[0]:
            self.require(0, &active[0], active.shape[0])

    def release(self, rows):
        """Mark rows as the first to be evicted.

        Parameters
        ----------
        rows : ndarray of int
            Their numbers, in memory or not.
        """
        slots = np.asarray(self.slot_of)[rows]
        np.asarray(self.last_used)[slots[slots >= 0]] = 0

    def fetch(self, needed):
        """Compute the missing ones of some rows, and as many of the expected ones as fit."""
        slot_of, last_used = np.asarray(self.slot_of), np.asarray(self.last_used)
        expected = np.setdiff1d(np.asarray(self.expected)[: self.n_expected], needed)
        self.n_expected = 0
        there = slot_of[expected] >= 0
        # expected rows in memory are evicted late, those needed now not at all
        last_used[slot_of[expected[there]]] = self.clock
        self.clock += 1
        last_used[slot_of[needed[slot_of[needed] >= 0]]] = self.clock
        room = max(self.n_slots - len(needed) - int(there.sum()), 0)
        rows = np.concatenate([needed[slot_of[needed] < 0], expected[~there][:room]])
        self.fill(np.argpartition(last_used, len(rows) - 1)[: len(rows)], rows)

    # target += factor * row t, which is present since the last call of require()
    cdef void add(self, Py_ssize_t t, double factor, double* target) noexcept nogil:
        cdef Py_ssize_t width = sizeof(float) if self.single else sizeof(double)
        cdef const char* row = self.table + self.slot_of[t] * self.n_rows * width
        add_scaled(row, self.single, self.n_rows, factor, target)


cdef class WorkingRows:
    """A working set: steps of some rows that read only the small kernel matrix of these rows.

    Between begin() and end() steps of these rows change the values of the functions at these rows
    only, in a copy; what a step costs does not depend on the number of all rows. Afterwards the
    values at all rows are updated by the changes of the coefficients, once for each row. The small
    kernel matrix only determines the lengths of steps, so single precision is enough for it, and
    for what the steps add to the values, which becomes smaller as the gap does.

    Invariants while v is not NULL: place_of[column[j]] == j for j < n, and it is -1 elsewhere;
    value[j, k] + added[k, j] is f_k at row column[j]; change[k, j] is the change of the
    coefficient, which v does not have yet; row j of gram is computed if has_kernels[j], and if any
    change[k, j] is not zero.

    Parameters
    ----------
    rows : KernelRows
        The kernel matrix of all rows.
    n_states : int
        Number of functions.
    """

    cdef KernelRows rows
    cdef readonly Py_ssize_t n_states, n
    cdef double* v                           # whose functions these are; NULL if there is no work
    cdef int32_t[::1] place_of               # (n_rows,)
    cdef int32_t[::1] column                 # (n + 1,) a spare one
    cdef unsigned char[::1] has_kernels      # (n + 1,)
    cdef float[:, ::1] gram                  # (capacity, capacity)
    cdef double[:, ::1] value                # (n + 1, n_states) when the work began
    cdef float[:, ::1] added                 # (n_states, n + 1)
    cdef double[:, ::1] change               # (n_states, n + 1)

    def __cinit__(self, KernelRows rows not None, Py_ssize_t n_states):
        self.rows, self.n_states = rows, n_states
        self.v = NULL
        self.place_of = np.full(rows.n_rows, -1, dtype=np.int32)
        self.gram = np.empty((0, 0), dtype=np.float32)
        self.column, self.has_kernels = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint8)
        self.value, self.change = np.zeros((1, n_states)), np.zeros((n_states, 1))
        self.added = np.zeros((n_states, 1), dtype=np.float32)

    def begin(self, columns, values, size_t v):
        """Begin.

        Parameters
        ----------
        columns : ndarray of shape (n,)
            Numbers of the rows, all different, no more than there are slots.
        values : ndarray of shape (n_states, n_rows)
            Of the functions; copied.
        v : int
            Address of the weights whose functions these are.
        """
        n, gram = len(columns), self.gram
        column = np.append(columns, 0).astype(np.int32)
        has_kernels = np.zeros(n + 1, dtype=np.uint8)
        if self.rows.direct:
            gram = self.rows.compute.among(columns)
            has_kernels[:] = 1
        elif len(gram) < n:
            gram = np.empty((n, n), dtype=np.float32)
        change = np.zeros((self.n_states, n + 1))
        added = np.zeros((self.n_states, n + 1), dtype=np.float32)
        value = np.ascontiguousarray(values[:, column].T)
        # nothing below can fail, so that all attributes belong together
        place_of = np.asarray(self.place_of)
        place_of[np.asarray(self.column)[: self.n]] = -1
        place_of[columns] = np.arange(n)
        self.n, self.column, self.has_kernels = n, column, has_kernels
        self.gram, self.value, self.added, self.change = gram, value, added, change
        self.v = <double*>v

    def end(self, values):
        """End; values, shape (n_states, n_rows), follow at all rows unless they are None."""
        cdef double[:, ::1] target
        cdef Py_ssize_t first, size
        columns, change = np.asarray(self.column)[: self.n], np.asarray(self.change)[:, : self.n]
        self.v = NULL
        np.asarray(self.place_of)[columns] = -1
        if values is None:
            return
        target = values
        changed = np.flatnonzero(change.any(axis=0))
        # parts of equal size
        n_parts = max(1, -(-len(changed) // self.rows.n_together))
        size = max(1, -(-len(changed) // n_parts))
        for first in range(0, len(changed), size):
            some = changed[first : first + size]
            # the functions that change at each of the rows, one row after the other
            places, functions = np.nonzero(change[:, some].T)
            factor = change[functions, some[places]]
            begin = np.searchsorted(places, np.arange(len(some) + 1))
            used, number = np.unique(functions, return_inverse=True)
            number, place = number.astype(np.int32), used * np.int64(self.rows.n_rows)
            room = np.empty(len(used) * tile_size(len(used)))
            for start, table, slots in self.rows.stripes(columns[some]):
                self.spread(start, table, slots, begin, number, factor, place, room, target)

    # add rows of a table of kernels from column `start` on: row slot[a], factor[e] times, to
    # function number[e] for begin[a] <= e < begin[a + 1], whose values begin at its place
    cdef int spread(
        self, Py_ssize_t start, table, const int32_t[::1] slot, const Py_ssize_t[::1] begin,
        const int32_t[::1] number, const double[::1] factor, const int64_t[::1] place,
        double[::1] room, double[:, ::1] target
    ) except -1:
        cdef size_t address = table.ctypes.data
        cdef const char* kernels = <const char*>address
        cdef Py_ssize_t length = table.shape[1], size = min(length, self.rows.n_rows - start)
        cdef bint single = table.itemsize == sizeof(float)
        with nogil:
            add_kernel_rows(
                kernels, single, length, &slot[0], slot.shape[0], &begin[0], &number[0],
                &factor[0], &place[0], place.shape[0], size, &target[0, start], &room[0]
            )
        return 0

    # f_k += factor * kernel(x_t, .), k the function; all of whose rows are known
    cdef void add(self, Py_ssize_t place, Py_ssize_t k, double factor) noexcept nogil:
        add_single(&self.gram[place, 0], self.n, <float>factor, &self.added[k, 0])
        self.change[k, place] += factor

    # read the kernels of row t, which is present
    cdef void read_row(self, Py_ssize_t t) noexcept nogil:
        cdef Py_ssize_t j, place = self.place_of[t], first = self.rows.slot_of[t] * self.rows.n_rows
        cdef const int32_t* column = &self.column[0]
        cdef const char* table = self.rows.table
        cdef float* gram = &self.gram[place, 0]
        for j in range(self.n):
            if self.rows.single:
                gram[j] = (<const float*>table)[first + column[j]]
            else:
                gram[j] = <float>(<const double*>table)[first + column[j]]
        self.has_kernels[place] = 1


cdef class KernelExpansion(FeatureSpace):
    """One function f_k of a kernel space for each state, within a weight vector.

    f_k(x) = sum_t beta[k, t] kernel(x_t, x) over all training rows x_t is held twice: by its
    values on the training rows, F = beta K, and by its coefficients beta. Both are linear in f, so
    that sums and multiples of weight vectors are those of the functions, and <f, g> is the dot
    product of the coefficients of the one with the values of the other (see covector).
    Reading a score is reading F; a step changes F along the kernel rows of the block that it
    changes. A sum of many blocks adds up coefficients only; F then follows by what has changed.

    Rounding: F is beta K but for 2^-53 of its largest size with every row that was added, and the
    next sum of all blocks computes it anew once that error may have reached 2^-32.

    Flat, from `place` on: F (n_states, n_rows), then beta (n_states, n_rows).

    Parameters
    ----------
    rows : KernelRows
        The kernel matrix of the training rows.
    support : KernelSupport
        The training rows, the number of functions, and their place in a weight vector.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Block i has the rows offsets[i] to offsets[i + 1] - 1.
    labels : ndarray of shape (n_rows,), int32, default=None
        The true states, where the code of a plane is a state for each row of its block: a step
        needs the rows where the two differ. None if it needs all.
    """

    cdef readonly KernelRows rows
    cdef bint summing                        # between begin_sum and end_sum: coefficients alone
    cdef readonly WorkingRows working        # between begin_steps and end_steps
    cdef readonly Py_ssize_t n_states, n_rows, place
    cdef readonly Py_ssize_t stop            # place + 2 * n_states * n_rows
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) the rows of the blocks
    cdef readonly const int32_t[::1] labels  # (n_rows,) the true states, or None
    cdef public int64_t most_added           # rows that may be added before F is computed anew
    cdef int64_t fresh                       # rows.n_required when F was last worked out afresh
    cdef object arguments                    # arguments of its constructor
    cdef object before                       # beta that F belonged to when the sum began

    def __cinit__(self, KernelRows rows, support, offsets, labels=None):
        self.rows, self.support = rows, support
        self.arguments = rows, support, offsets, labels
        self.n_states, self.place = support.n_states, support.n_linear
        self.working = WorkingRows(rows, self.n_states)
        self.n_rows = rows.n_rows
        self.most_added = MOST_ADDED
        self.stop = self.place + 2 * self.n_states * rows.n_rows
        self.offsets, self.labels = offsets, labels
        self.is_kernel_space = True
        self.batch_size = rows.batch_size(len(offsets) - 1)

    def fork(self):
        """Return the same functions for another thread."""
        return KernelExpansion(*self.arguments)

    def digests(self):
        """Return two dicts, {name: value} of the whole space and {name: digests} of its blocks."""
        X = self.support.X
        whole = {"the kernel": self.support.kernel, "the number of features": X.shape[1]}
        return whole, {"X": row_digests(FeatureRows(X, sparsify=False), self.offsets)}

    cdef void add_values(
        self, Py_ssize_t first, Py_ssize_t count, const double* w, double* scores,
        Py_ssize_t stride
    ) noexcept nogil:
        cdef Py_ssize_t k, t, place
        cdef const double* values = w + self.place + first
        if w == self.working.v:
            for t in range(count):
                place = self.working.place_of[first + t]
                for k in range(self.n_states):
                    scores[t * stride + k] += (
                        self.working.value[place, k] + self.working.added[k, place]
                    )
            return
        for k in range(self.n_states):
            for t in range(count):
                scores[t * stride + k] += values[t]
            values += self.n_rows

    cdef int add_rows(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* v
    ) except -1 nogil:
        cdef Py_ssize_t a, k, t, place = 0, n_rows = self.n_rows
        cdef double* values = v + self.place
        cdef double* coefficients = values + self.n_states * n_rows
        cdef double factor
        cdef bint within = v == self.working.v
        if not (self.summing or within):
            self.rows.require(first, active, n_active)
        for a in range(n_active):
            t = first + active[a]
            if within:
                place = self.working.place_of[t]
                if not self.working.has_kernels[place]:
                    self.rows.require(t, &HERE, 1)
                    self.working.read_row(t)
            for k in range(self.n_states):
                factor = step * direction[active[a] * stride + k]
                if factor == 0.0:
                    continue
                if within:
                    self.working.add(place, k, factor)
                    continue
                if not self.summing:
                    self.rows.add(t, factor, values + k * n_rows)
                coefficients[k * n_rows + t] += factor
        return 0

    def begin_steps(self, blocks, double[::1] v not None):
        """Let steps of these blocks change v at their own rows only; see `FeatureSpace`."""
        offsets = np.asarray(self.offsets)
        columns = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in blocks])
        if len(columns) > self.rows.room:
            return False  # rows would be evicted before they have been added
        self.working.begin(columns, self.split(&v[0])[0], <size_t>&v[0])
        return True

    def end_steps(self, double[::1] v not None, bint done):
        """Let v follow at all other rows; see `FeatureSpace`."""
        values, coefficients = self.split(&v[0])
        columns = np.asarray(self.working.column)[: self.working.n]
        coefficients[:, columns] += np.asarray(self.working.change)[:, : self.working.n]
        self.working.end(values if done else None)
        sizes = np.abs(coefficients[:, columns]).max(axis=0, initial=0.0)
        # steps that should lead to zero leave rounding errors
        self.rows.release(columns[sizes <= NOISE * sizes.max(initial=0.0)])

    cdef int begin_sum(self, double* v, Py_ssize_t d) except -1 nogil:
        cdef Py_ssize_t size = self.n_states * self.n_rows
        with gil:
            self.before = self.split(v)[1].copy()
        self.summing = True
        memset(v, 0, self.place * sizeof(double))
        memset(v + self.place + size, 0, size * sizeof(double))
        return 0

    cdef int end_sum(self, double* v, Stop stop) except -1 nogil:
        self.summing = False
        with gil:
            self.follow(*self.split(v), stop)
        return 0

    cdef void abort_sum(self, double* v, Py_ssize_t d) noexcept nogil:
        memset(v, 0, self.stop * sizeof(double))
        self.summing = False
        with gil:
            self.before = None

    cdef void prefetch_step(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t, first = self.offsets[i]
        for t in range(self.offsets[i + 1] - first):
            if self.labels is None or code[t] != self.labels[first + t]:
                self.rows.expect(first + t)

    def cached_blocks(self, blocks):
        """Return those of some blocks none of whose kernel rows has been evicted."""
        offsets = np.asarray(self.offsets)
        return blocks[self.rows.cached_blocks(offsets[blocks], offsets[blocks + 1])]

    def arrange(self, blocks, random_state):
        """Return blocks in random order, of one row each with neighbours where these are known.

        Steps of neighbours depend on each other: in one working set they need not be repeated.
        """
        if len(self.offsets) - 1 == self.n_rows and hasattr(self.rows.compute, "arrange"):
            return self.rows.compute.arrange(blocks, WORKING_ROWS, random_state)
        return FeatureSpace.arrange(self, blocks, random_state)

    # F and beta, as views of v
    cdef object split(self, double* v):
        cdef Py_ssize_t size = self.n_states * self.n_rows
        both = np.asarray(<double[: 2 * size]> (v + self.place))
        return both.reshape(2, self.n_states, self.n_rows)

    def follow(self, values, coefficients, Stop stop):
        """Update values: by the rows whose coefficients changed, or computed anew.

        Parameters
        ----------
        values, coefficients : ndarray of shape (n_states, n_rows)
            Of the functions. The values belong to coefficients that there were before.
        stop : Stop
            Read after every block of rows.

        Raises
        ------
        CutShort
            If the fit is to stop before the last block; the values are then invalid.
        """
        size = self.rows.block_size
        change = coefficients - self.before
        # a new sum changes the last digits: F and beta stay if no coefficient has changed
        noise = NOISE * np.abs(coefficients).max(initial=0.0)
        steady = (np.abs(change) <= noise).all(axis=0)
        present, changed = np.flatnonzero(coefficients.any(axis=0)), np.flatnonzero(~steady)
        cheap = len(present) <= size and self.rows.is_cached(present).all()
        n_added = self.rows.n_required - self.fresh
        afresh = cheap or len(present) <= len(changed) or n_added > self.most_added
        if afresh:
            values[:] = 0.0
            change, changed = coefficients, present
        else:
            coefficients[:, steady] = self.before[:, steady]
        self.before = None
        for start in range(0, len(changed), size):
            some = changed[start : start + size]
            values += change[:, some] @ self.rows.take(some)
            if stop.due() and start + size < len(changed):
                raise CutShort
        if afresh:
            self.fresh = self.rows.n_required

    def covector(self, w):
        """Return the covector of w: zeros in place of F, and F in place of beta."""
        size = self.n_states * self.n_rows
        out = np.zeros(len(w))
        out[: self.place] = w[: self.place]
        out[self.place + size :] = w[self.place :][:size]
        return out


def prepare_kernels(KernelRows rows, FeatureMap map, runs):
    """Give a map the kernel matrices of the nodes of each block, which `sqnorm` needs.

    Parameters
    ----------
    rows : KernelRows
        Of all nodes.
    map : FeatureMap
        Of blocks of nodes without features but for marks, which count too.
    runs : iterable of (first, last, ndarray)
        Numbers of blocks, first to last - 1, and the kernel matrix of all of their nodes.
    """
    cdef const uint8_t* marks = map.rows.marks
    nodes = np.asarray(map.offsets)
    start = np.repeat(nodes[: map.n_blocks], np.diff(nodes))
    lengths = np.arange(len(start)) - start + 1
    # where the kernels of each node with itself and those before it begin
    places = np.concatenate([[0], np.cumsum(lengths)])
    numbers = np.empty(np.sum(lengths))
    ones = np.zeros((len(start), 1))
    if marks != NULL:
        bits = np.asarray(<uint8_t[: len(start), :1]><uint8_t*>marks)
        ones = np.unpackbits(bits, axis=1).astype(np.float64)
    for first, last, kernels in runs:
        here = slice(nodes[first], nodes[last])
        matrix = rows.rounded(kernels) + ones[here] @ ones[here].T
        packed = numbers[places[here.start] : places[here.stop]]
        t = np.repeat(np.arange(here.start, here.stop), lengths[here])
        s = np.arange(places[here.start], places[here.stop]) - places[t] + start[t]
        packed[:] = matrix[s - here.start, t - here.start]
    if map.is_single:
        map.prepare(row_sqnorm=numbers)
    else:
        map.prepare(SequenceGrams(places[nodes[: map.n_blocks]], numbers))
