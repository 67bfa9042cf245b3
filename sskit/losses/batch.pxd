from libc.stdint cimport int32_t, int64_t

from sskit.parallel.crew cimport Crew, Task


cdef class Numbers:
    """Potentials as they were given, float32 or float64, in C order."""

    cdef const float[::1] single
    cdef const double[::1] wide
    cdef const float* f              # one of the two is NULL
    cdef const double* d
    cdef readonly Py_ssize_t n

    cdef inline double at(self, Py_ssize_t k) noexcept nogil:
        return self.d[k] if self.f == NULL else <double>self.f[k]

    # out = n of them from `start` on; is any NaN or +inf?
    cdef bint copy(self, Py_ssize_t start, Py_ssize_t n, double* out) noexcept nogil


cdef class Batch:
    """Potentials of samples: rows of nodes, tables of edges, and which of them are whose.

    Nodes first[i] .. first[i] + length[i] - 1 are those of sample i. Its edge e has the table
    table_first[i] + step * e, of `width` numbers, and joins the nodes ends[edge_first[i] + e] of
    it; those of chains join nodes that follow each other, and are not listed.
    """

    cdef Numbers nodes
    cdef Numbers tables
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t width
    cdef readonly Py_ssize_t n_tables
    cdef readonly Py_ssize_t max_nodes
    cdef readonly Py_ssize_t max_edges
    cdef readonly bint one_table         # for all edges of all samples
    cdef Py_ssize_t step                 # 1: each edge has its own table; 0: a sample has one
    cdef bint listed
    cdef const int64_t[::1] first
    cdef const int64_t[::1] length
    cdef const int64_t[::1] table_first
    cdef const int64_t[::1] n_edges
    cdef const int64_t[::1] edge_first
    cdef const int32_t[:, ::1] ends
    cdef tuple words                     # what a sample, a node and a state are called

    cdef inline Py_ssize_t table_of(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return self.table_first[i] + self.step * e

    # The potentials of the nodes of a sample, as rows of `stride` numbers, padded by zeros, and
    # one table likewise; ValueError names what is not a number.
    cdef int load_nodes(self, Py_ssize_t i, Py_ssize_t stride, double* out) except -1 nogil
    cdef int load_table(self, Py_ssize_t number, Py_ssize_t stride, double* out) except -1 nogil
    # each raises ValueError that names what is wrong
    cdef int check(self, Py_ssize_t i) except -1
    cdef int name_node(self, Py_ssize_t i) except -1
    cdef int name_table(self, Py_ssize_t number) except -1
    cdef int refuse(self, Py_ssize_t i, str what) except -1


cdef class Truths:
    """True labels of all rows, -1 where hidden, and what wrong ones cost."""

    cdef const int32_t[::1] label
    cdef const double[::1] cost          # of a wrong label at each row, not negative
    cdef const double[:, ::1] table      # factors of it, true label by label; empty: all are one
    cdef bint has_table
    cdef readonly Py_ssize_t n_states

    # loss of a label at a row
    cdef inline double loss(self, Py_ssize_t row, int32_t label) noexcept nogil:
        cdef int32_t truth = self.label[row]
        if truth < 0 or truth == label:
            return 0.0
        if self.has_table:
            return self.cost[row] * self.table[truth, label]
        return self.cost[row]


cdef class Found:
    """What is written for all rows and samples."""

    cdef int32_t[::1] label              # of each row
    cdef int32_t[::1] completed
    cdef double[::1] loss                # of each sample
    cdef double[::1] scale               # of its gradient
    cdef unsigned char[::1] exact


cdef class BatchTask(Task):
    """Something to be done for each sample."""

    cdef Batch batch
    cdef Py_ssize_t n_workers

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil
