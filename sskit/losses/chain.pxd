from libc.stdint cimport int32_t

from sskit.losses.batch cimport BatchTask, Truths


cdef class ChainTask(BatchTask):
    """Chains and scratch memory."""

    cdef Py_ssize_t stride
    cdef double[:, ::1] shared       # the one table of all, by rows of `stride`
    cdef double[:, ::1] space        # (n_workers, ..): rows of nodes, of values, two tables, rows

    cdef inline double* node(self, Py_ssize_t worker) noexcept nogil:
        return &self.space[worker, 0]

    cdef inline double* value(self, Py_ssize_t worker) noexcept nogil:
        return &self.space[worker, self.batch.max_nodes * self.stride]

    cdef inline double* own_table(self, Py_ssize_t worker) noexcept nogil:
        return &self.space[worker, 2 * self.batch.max_nodes * self.stride]

    cdef inline double* spare(self, Py_ssize_t worker) noexcept nogil:
        return self.own_table(worker) + 2 * self.batch.n_states * self.stride

    cdef inline double node_at(self, Py_ssize_t i, Py_ssize_t t, int32_t a) noexcept nogil:
        return self.batch.nodes.at((self.batch.first[i] + t) * self.batch.n_states + a)

    cdef inline double edge_at(
        self, Py_ssize_t i, Py_ssize_t e, int32_t a, int32_t b
    ) noexcept nogil:
        cdef Py_ssize_t n_states = self.batch.n_states
        return self.batch.tables.at(
            (self.batch.table_of(i, e) * n_states + a) * n_states + b
        )

    # The table of edge e. Edges of a chain are asked for one after the other, from `start` on.
    cdef const double* table(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t start, Py_ssize_t worker
    ) except NULL nogil
    # a best labelling by the rows of node(); its score, -inf: none is allowed
    cdef double viterbi(
        self, Py_ssize_t i, Py_ssize_t worker, int32_t* labels
    ) except? -1 nogil
    # leave only the labels that are known
    cdef void keep_known(self, Truths truths, Py_ssize_t i, Py_ssize_t worker) noexcept nogil
    # The best labelling that agrees with what is known, from loaded nodes. Are they spoiled by it?
    cdef bint complete(
        self, Truths truths, Py_ssize_t i, Py_ssize_t worker, int32_t* labels
    ) except -1 nogil
    cdef int name_forbidden(
        self, Py_ssize_t i, Py_ssize_t t, int32_t before, int32_t label
    ) except -1
    # how much more a labelling scores than another one
    cdef double advantage(
        self, Py_ssize_t i, const int32_t* labels, const int32_t* others
    ) noexcept nogil
