"""The cache of kernel rows (see the .pxd)."""

import numpy as np

from sskit.core.checks cimport check_equal, check_indices, check_least
from sskit.models.row_kernels cimport (
    add_scaled, add_scaled_rows, add_scaled_rows_singles, add_scaled_singles,
)


# Rows that work together (see working_rows.pxd). Larger sets take fewer passes, but more steps.
WORKING_ROWS = 512


cdef class KernelRows:
    """Rows of a kernel matrix within a memory budget; the least recently used ones leave first.

    Rows are computed in blocks: one that is missing brings those along that are expected.

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
    """

    dtype = np.float64

    def __cinit__(self, compute, Py_ssize_t n_rows, Py_ssize_t n_slots, Py_ssize_t block_size):
        check_least(n_rows, 0, "n_rows")
        check_least(n_slots, 0, "n_slots")
        check_least(block_size, 1, "block_size")
        self.compute = compute
        self.n_rows = n_rows
        self.n_slots = min(n_slots, n_rows)
        self.block_size = block_size
        self.direct = getattr(compute, "cheap", False)
        self.memory = np.empty((self.n_slots, n_rows), dtype=self.dtype)
        self.slot_of = np.full(n_rows, -1, dtype=np.int32)
        self.row_in = np.full(self.n_slots, -1, dtype=np.int32)
        self.last_used = np.zeros(self.n_slots, dtype=np.int64)
        self.seen = np.zeros(n_rows, dtype=np.uint8)
        self.expected = np.empty(n_rows, dtype=np.int32)

    def rounded(self, kernels):
        """Return kernels, an array, as rows of this kind hold them."""
        return kernels.astype(self.dtype).astype(np.float64)

    @property
    def complete(self):
        """Whether every row is there."""
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
        """How many rows there may be in a working set."""
        return self.n_rows if self.direct else self.n_slots

    @property
    def n_together(self):
        """How many rows are best added to scores at once."""
        return WORKING_ROWS if self.direct else min(self.n_slots, self.block_size)

    def arrange(self, rows, random_state):
        """Return rows in random order, neighbours together where these are known.

        Steps of neighbours depend on each other: taken in one working set they need not be taken
        again and again.
        """
        if hasattr(self.compute, "arrange"):
            return self.compute.arrange(rows, WORKING_ROWS, random_state)
        return random_state.permutation(rows)

    def among(self, rows):
        """Return the kernels of some rows with each other in single precision, shape (m, m)."""
        return self.compute.among(rows)

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
            The rows of the table that hold those that were asked for.
        """
        if not self.direct:
            self.ensure(rows)
            yield 0, self.memory, np.asarray(self.slot_of)[rows]
            return
        self.n_required += len(rows)
        self.n_computed += len(rows)
        for start, block in self.compute.stripes(rows, self.dtype):
            yield start, block, np.arange(len(rows), dtype=np.int32)

    def held(self, rows):
        """Return which of the rows with these numbers are there, of the same shape, bool."""
        return np.asarray(self.slot_of)[rows] >= 0

    def cached_blocks(self, starts, stops):
        """Return which runs of rows need nothing computed: all that were ever there still are.

        Parameters
        ----------
        starts, stops : ndarray of shape (m,)
            A run has the rows starts[j] to stops[j] - 1.

        Returns
        -------
        cached_blocks : ndarray of shape (m,), bool
            False too where no row was ever there.
        """
        if self.direct:
            return np.ones(len(starts), dtype=bool)
        held = np.asarray(self.slot_of) >= 0
        n_held, n_seen = (np.concatenate([[0], a.cumsum()]) for a in (held, np.asarray(self.seen)))
        n_held = n_held[stops] - n_held[starts]
        return (n_held > 0) & (n_held == n_seen[stops] - n_seen[starts])

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
            np.asarray(self.seen)[some] = 1
            row_in[places] = some
            np.asarray(self.last_used)[places] = self.clock

    def compute_into(self, rows, table, places):
        """Compute rows into these rows of a table."""
        if hasattr(self.compute, "fill"):
            self.compute.fill(rows, table, places)
        else:
            table[places] = self.compute(rows)

    def fill_all(self):
        """Compute all rows, for which there must be room."""
        rows = np.arange(self.n_rows)
        self.fill(rows, rows)

    def take(self, rows):
        """Return rows for once: only free slots keep what is computed for it.

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

    cdef void expect(self, Py_ssize_t t) noexcept nogil:
        if self.n_expected == self.n_rows:
            self.n_expected = 0  # nothing was missing for so long that the hints are old
        self.expected[self.n_expected] = <int32_t>t
        self.n_expected += 1

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
        """Have rows in memory at once, no more than there are slots."""
        check_indices(rows, self.n_rows, "row")
        check_least(self.n_slots, len(rows), "the number of slots")
        cdef int32_t[::1] active = rows.astype(np.int32)
        if active.shape[0]:
            self.require(0, &active[0], active.shape[0])

    def release(self, rows):
        """Let rows that are of no use now leave before all others.

        Parameters
        ----------
        rows : ndarray of int
            Their numbers, in memory or not.
        """
        check_indices(rows, self.n_rows, "row")
        slots = np.asarray(self.slot_of)[rows]
        np.asarray(self.last_used)[slots[slots >= 0]] = 0

    def fetch(self, needed):
        """Compute what is missing of some rows, and as many of the expected ones as have room."""
        slot_of, last_used = np.asarray(self.slot_of), np.asarray(self.last_used)
        expected = np.setdiff1d(np.asarray(self.expected)[: self.n_expected], needed)
        self.n_expected = 0
        there = slot_of[expected] >= 0
        # what is expected and there leaves late, what is needed now and there not at all
        last_used[slot_of[expected[there]]] = self.clock
        self.clock += 1
        last_used[slot_of[needed[slot_of[needed] >= 0]]] = self.clock
        room = max(self.n_slots - len(needed) - int(there.sum()), 0)
        rows = np.concatenate([needed[slot_of[needed] < 0], expected[~there][:room]])
        self.fill(np.argpartition(last_used, len(rows) - 1)[: len(rows)], rows)

    cdef void add(
        self, Py_ssize_t t, double factor, Py_ssize_t start, Py_ssize_t stop, double* target
    ) noexcept nogil:
        pass

    cdef void add_all(
        self, const char* table, Py_ssize_t length, const int32_t* slots, const double* factors,
        Py_ssize_t count, Py_ssize_t n, double* target
    ) noexcept nogil:
        pass

    cdef void gather(
        self, Py_ssize_t t, const int32_t* columns, Py_ssize_t count, float* out
    ) noexcept nogil:
        pass

    def __getitem__(self, Py_ssize_t t):
        """Return a copy of row t."""
        if not 0 <= t < self.n_rows:
            raise IndexError(f"row {t} of a kernel matrix with {self.n_rows} rows")
        cdef int32_t none = 0
        self.require(t, &none, 1)
        return np.array(self.memory[self.slot_of[t]])


cdef class DoubleRows(KernelRows):
    """Rows in double precision."""

    def __cinit__(self):
        self.table = self.memory

    @staticmethod
    def of_matrix(matrix, Py_ssize_t block_size):
        """Return the rows of a matrix that there is already; no copy is made.

        Parameters
        ----------
        matrix : ndarray of shape (n_rows, n_rows), float64
            C-contiguous.
        block_size : int
            Number of rows that are worked on at a time.

        Returns
        -------
        rows : DoubleRows
            All of them.
        """
        cdef DoubleRows rows = DoubleRows(None, 0, 0, block_size)
        cdef const double[:, ::1] table = matrix
        check_equal(table.shape[1], table.shape[0], "the length of the rows")
        rows.n_rows = rows.n_slots = len(matrix)
        rows.memory, rows.table = matrix, table
        rows.slot_of = rows.row_in = np.arange(len(matrix), dtype=np.int32)
        rows.last_used = np.zeros(len(matrix), dtype=np.int64)
        rows.expected = np.empty(len(matrix), dtype=np.int32)
        rows.seen = np.ones(len(matrix), dtype=np.uint8)
        return rows

    cdef void add(
        self, Py_ssize_t t, double factor, Py_ssize_t start, Py_ssize_t stop, double* target
    ) noexcept nogil:
        add_scaled(
            &self.table[self.slot_of[t], 0] + start, stop - start, factor, target + start
        )

    cdef void add_all(
        self, const char* table, Py_ssize_t length, const int32_t* slots, const double* factors,
        Py_ssize_t count, Py_ssize_t n, double* target
    ) noexcept nogil:
        add_scaled_rows(<const double*>table, length, slots, factors, count, n, target)

    cdef void gather(
        self, Py_ssize_t t, const int32_t* columns, Py_ssize_t count, float* out
    ) noexcept nogil:
        cdef Py_ssize_t j, slot = self.slot_of[t]
        for j in range(count):
            out[j] = <float>self.table[slot, columns[j]]


cdef class SingleRows(KernelRows):
    """Rows rounded to single precision, as libsvm keeps them: twice as many in the same memory."""

    dtype = np.float32

    def __cinit__(self):
        self.table = self.memory

    cdef void add(
        self, Py_ssize_t t, double factor, Py_ssize_t start, Py_ssize_t stop, double* target
    ) noexcept nogil:
        add_scaled_singles(
            &self.table[self.slot_of[t], 0] + start, stop - start, factor, target + start
        )

    cdef void add_all(
        self, const char* table, Py_ssize_t length, const int32_t* slots, const double* factors,
        Py_ssize_t count, Py_ssize_t n, double* target
    ) noexcept nogil:
        add_scaled_rows_singles(<const float*>table, length, slots, factors, count, n, target)

    cdef void gather(
        self, Py_ssize_t t, const int32_t* columns, Py_ssize_t count, float* out
    ) noexcept nogil:
        cdef Py_ssize_t j, slot = self.slot_of[t]
        for j in range(count):
            out[j] = <float>self.table[slot, columns[j]]


cdef class NoRows(KernelRows):
    """Rows that are never there and add nothing: for sums of which only coefficients are wanted."""

    cdef int require(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active
    ) except -1 nogil:
        return 0
