"""Batches of potentials for compiled losses (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY

from sskit.core.checks cimport check_equal, check_indices, check_range

# Portions of a batch for each worker: so many that nobody waits long for the longest samples.
cdef Py_ssize_t PORTIONS = 8


cdef class Numbers:
    """Potentials as they were given.

    Parameters
    ----------
    values : ndarray of shape (n,), float32 or float64
        The numbers; they are not copied.
    """

    def __cinit__(self, values):
        if values.dtype == np.float32:
            self.single = values
            self.n = self.single.shape[0]
            self.f = &self.single[0] if self.n else NULL
        else:
            self.wide = values
            self.n = self.wide.shape[0]
            self.d = &self.wide[0] if self.n else NULL

    cdef bint copy(self, Py_ssize_t start, Py_ssize_t n, double* out) noexcept nogil:
        cdef Py_ssize_t k
        cdef const float* f
        cdef const double* d
        cdef bint odd = False
        if self.f != NULL:
            f = self.f + start
            for k in range(n):
                out[k] = f[k]
        elif self.d != NULL:
            d = self.d + start
            for k in range(n):
                out[k] = d[k]
        for k in range(n):
            odd |= not out[k] < INFINITY
        return odd


cdef class Batch:
    """Potentials of samples.

    Parameters
    ----------
    nodes : Numbers
        Potentials of the nodes of all samples, by rows.
    n_states : int
        Length of a row.
    first, length : ndarray of shape (n,), int64
        The first node of a sample, and how many it has.
    tables : Numbers
        Tables of edges, one after the other.
    width : int
        Length of a table.
    table_first : ndarray of shape (n,), int64
        The first table of a sample.
    step : {0, 1}
        1 if each edge has its own table, 0 if those of a sample share one.
    n_edges : ndarray of shape (n,), int64
        How many edges a sample has.
    words : tuple of str
        What a sample, a node and a state are called in error messages.
    ends : ndarray of shape (m, 2), int32, default=None
        The nodes of edges, counted within their sample; None for chains.
    edge_first : ndarray of shape (n,), int64, default=None
        The first edge of a sample.
    """

    def __cinit__(
        self, Numbers nodes, Py_ssize_t n_states, first, length, Numbers tables, Py_ssize_t width,
        table_first, bint step, n_edges, tuple words, ends=None, edge_first=None,
    ):
        cdef Py_ssize_t i
        self.n_states, self.width, self.step = n_states, width, step
        self.n_rows, self.n_tables = nodes.n // n_states, tables.n // width
        self.first, self.length, self.table_first = first, length, table_first
        self.n_edges = n_edges
        self.n = self.first.shape[0]
        self.listed = ends is not None
        self.ends = np.zeros((0, 2), dtype=np.int32) if ends is None else ends
        self.edge_first = np.zeros(self.n, dtype=np.int64) if edge_first is None else edge_first
        self.nodes, self.tables, self.words = nodes, tables, words
        self.max_nodes = self.max_edges = 0
        self.one_table = not step and self.n_tables == 1
        for i in range(self.n):
            self.check(i)
            self.max_nodes = max(self.max_nodes, self.length[i])
            self.max_edges = max(self.max_edges, self.n_edges[i])

    cdef int check(self, Py_ssize_t i) except -1:
        cdef Py_ssize_t e, v, first = self.edge_first[i], m = self.n_edges[i]
        cdef Py_ssize_t n_nodes = self.length[i], side
        if not self.listed:
            return 0
        for e in range(first, first + m):
            for side in range(2):
                v = self.ends[e, side]
                if not 0 <= v < n_nodes:
                    raise ValueError(
                        f"{self.words[0]} {i}: edges[{e - first}] has the {self.words[1]} {v}, "
                        f"expected 0 to {n_nodes - 1}"
                    )
            if self.ends[e, 0] == self.ends[e, 1]:
                raise ValueError(
                    f"{self.words[0]} {i}: edges[{e - first}] joins the {self.words[1]} "
                    f"{self.ends[e, 0]} to itself"
                )
        return 0

    cdef int load_nodes(self, Py_ssize_t i, Py_ssize_t stride, double* out) except -1 nogil:
        cdef Py_ssize_t t, k, n_states = self.n_states, first = self.first[i]
        cdef bint odd = False
        for t in range(self.length[i]):
            odd |= self.nodes.copy((first + t) * n_states, n_states, out + t * stride)
            for k in range(n_states, stride):
                out[t * stride + k] = 0.0
        if odd:
            with gil:
                self.name_node(i)
        return 0

    cdef int load_table(self, Py_ssize_t number, Py_ssize_t stride, double* out) except -1 nogil:
        cdef Py_ssize_t a, k, n_rows, n_columns
        cdef bint odd = False
        n_rows = n_columns = self.n_states
        if self.width == 1:
            n_rows = n_columns = 1
        for a in range(n_rows):
            odd |= self.tables.copy(
                number * self.width + a * n_columns, n_columns, out + a * stride
            )
            for k in range(n_columns, stride):
                out[a * stride + k] = 0.0
        if odd:
            with gil:
                self.name_table(number)
        return 0

    cdef int name_node(self, Py_ssize_t i) except -1:
        item, node, state = self.words
        for t in range(self.length[i]):
            for k in range(self.n_states):
                value = self.nodes.at((self.first[i] + t) * self.n_states + k)
                if not value < INFINITY:
                    raise ValueError(
                        f"{item} {i}, {node} {t}: unary of {state} {k} is {value}, expected a "
                        "number or -inf"
                    )
        return 0

    cdef int name_table(self, Py_ssize_t number) except -1:
        cdef Py_ssize_t k
        where = ""
        if not self.one_table:
            of = next(
                (i, number - self.table_first[i]) for i in range(self.n)
                if 0 <= number - self.table_first[i] <= self.step * (self.n_edges[i] - 1)
            )
            where = f"{self.words[0]} {of[0]}" + (f", edge {of[1]}: " if self.step else ": ")
        for k in range(self.width):
            value = self.tables.at(number * self.width + k)
            if not value < INFINITY:
                pair = ""
                if self.width > 1:
                    pair = f"[{k // self.n_states}, {k % self.n_states}]"
                raise ValueError(
                    f"{where}pairwise{pair} is {value}, expected a number or -inf"
                )
        return 0

    cdef int refuse(self, Py_ssize_t i, str what) except -1:
        raise ValueError(f"{self.words[0]} {i}: {what}")


cdef class Truths:
    """True labels and what wrong ones cost.

    Parameters
    ----------
    batch : Batch
        Whose labels these are.
    label : ndarray of shape (n_rows,), int32
        True labels; -1 where they are not known.
    cost : ndarray of shape (n_rows,)
        Loss of a wrong label.
    table : ndarray of shape (n_states, n_states) or None
        Factors of it.
    """

    def __cinit__(self, Batch batch, label, cost, table):
        self.label, self.cost = label, cost
        self.has_table = table is not None
        self.table = np.zeros((0, 0)) if table is None else table
        check_equal(self.label.shape[0], batch.n_rows, "the number of labels")
        check_equal(self.cost.shape[0], batch.n_rows, "the number of costs")
        self.n_states = batch.n_states
        check_indices(np.add(label, 1, dtype=np.int64), self.n_states + 1, "label")
        if self.has_table:
            check_equal(self.table.shape[0], self.n_states, "the number of rows of costs")
            check_equal(self.table.shape[1], self.n_states, "the number of columns of costs")


cdef class Found:
    """What is written.

    Parameters
    ----------
    batch : Batch
        For whose rows and samples.
    """

    def __cinit__(self, Batch batch):
        self.label = np.full(batch.n_rows, -1, dtype=np.int32)
        self.completed = np.full(batch.n_rows, -1, dtype=np.int32)
        self.loss = np.zeros(batch.n)
        self.scale = np.ones(batch.n)
        self.exact = np.ones(batch.n, dtype=np.uint8)

    def arrays(self):
        """Return labels, completed labels, losses, scales, and whether they are exact."""
        return (
            np.asarray(self.label), np.asarray(self.completed), np.asarray(self.loss),
            np.asarray(self.scale), np.asarray(self.exact).view(bool),
        )


cdef class BatchTask(Task):
    """Base of what is done for each sample; a subclass overrides solve.

    Parameters
    ----------
    batch : Batch
        The samples.
    n_workers : int
        Number of workers, each with scratch memory of its own.
    """

    def __cinit__(self, Batch batch, Py_ssize_t n_workers, *args):
        check_range(1, n_workers, 256, "n_workers")
        self.batch, self.n_workers = batch, n_workers

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement solve")

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(start, stop):
            if self.batch.length[i]:
                self.solve(i, worker)
        return False

    def run(self, Crew crew):
        """Let the workers of a crew do it for all samples."""
        if crew.n_workers > self.n_workers:
            raise ValueError(f"{crew.n_workers} workers are more than {self.n_workers}")
        crew.begin(self)
        try:
            with nogil:
                crew.run(self.batch.n, self.batch.n // (PORTIONS * crew.n_workers))
        finally:
            crew.end()
