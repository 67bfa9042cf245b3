"""The cache of kernel rows (see the .pxd)."""

import numpy as np


cdef class KernelRows:
    """Rows of a kernel matrix within a memory budget; the least recently used ones leave first.

    Parameters
    ----------
    compute : callable
        Returns the rows with given numbers, shape (len(rows), n_rows), float64.
    n_rows : int
        Size of the matrix.
    n_slots : int
        Number of rows to keep. If all fit they are computed at once, in blocks.
    block_size : int
        Number of rows of such a block.
    """

    def __init__(self, compute, Py_ssize_t n_rows, Py_ssize_t n_slots, Py_ssize_t block_size):
        cdef Py_ssize_t start
        self.compute = compute
        self.n_rows = n_rows
        self.n_slots = min(n_slots, n_rows)
        self.memory = np.empty((self.n_slots, n_rows))
        self.table = self.memory
        self.slot_of = np.full(n_rows, -1, dtype=np.int32)
        self.row_in = np.full(self.n_slots, -1, dtype=np.int32)
        self.last_used = np.zeros(self.n_slots, dtype=np.int64)
        if self.n_slots == n_rows:
            for start in range(0, n_rows, block_size):
                rows = np.arange(start, min(start + block_size, n_rows))
                self.fill(rows, rows)

    @staticmethod
    def of_matrix(matrix):
        """Return the rows of a matrix that there is already; no copy is made.

        Parameters
        ----------
        matrix : ndarray of shape (n_rows, n_rows), float64
            C-contiguous.

        Returns
        -------
        rows : KernelRows
            All of them.
        """
        cdef KernelRows rows = KernelRows(None, 0, 0, 1)
        rows.n_rows = rows.n_slots = len(matrix)
        rows.memory = rows.table = matrix
        rows.slot_of = rows.row_in = np.arange(len(matrix), dtype=np.int32)
        rows.last_used = np.zeros(len(matrix), dtype=np.int64)
        return rows

    def fill(self, slots, rows):
        """Compute rows into slots, in place of what is there.

        Parameters
        ----------
        slots, rows : ndarray of int
            Of equal length.
        """
        for slot in slots:
            if self.row_in[slot] >= 0:
                self.slot_of[self.row_in[slot]] = -1
                self.row_in[slot] = -1
        self.memory[slots] = self.compute(rows)
        self.n_computed += len(rows)
        for slot, row in zip(slots, rows):
            self.slot_of[row] = slot
            self.row_in[slot] = row
            self.last_used[slot] = self.clock

    cdef int require(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active
    ) except -1 nogil:
        cdef Py_ssize_t a, n_missing = 0
        cdef int32_t slot
        self.clock += 1
        for a in range(n_active):
            slot = self.slot_of[first + active[a]]
            if slot < 0:
                n_missing += 1
            else:
                self.last_used[slot] = self.clock
        if n_missing == 0:
            return 0
        with gil:
            rows = np.array([first + active[a] for a in range(n_active)])
            rows = rows[np.asarray(self.slot_of)[rows] < 0]
            # those of this request are the youngest: they stay
            oldest = np.argpartition(self.last_used, len(rows) - 1)[: len(rows)]
            self.fill(oldest, rows)
        return 0

    cdef const double* row(self, Py_ssize_t t) noexcept nogil:
        return &self.table[self.slot_of[t], 0]

    def __getitem__(self, Py_ssize_t t):
        """Return a copy of row t."""
        if not 0 <= t < self.n_rows:
            raise IndexError(f"row {t} of a kernel matrix with {self.n_rows} rows")
        cdef int32_t none = 0
        self.require(t, &none, 1)
        return np.array(self.table[self.slot_of[t]])
