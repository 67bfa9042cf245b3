"""Potentials that are arrays, of a network or calibrated, in place of those of features."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from sskit.models.feature_map cimport FeatureMap
from sskit.models.request cimport Request
from sskit.models.structure cimport Block, NodeLoss, Structure


cdef class Numbers:
    """Numbers as they were given.

    Parameters
    ----------
    values : ndarray of shape (n,), float32 or float64
        They are not copied.
    """

    cdef const float[::1] single
    cdef const double[::1] wide
    cdef bint is_single

    def __cinit__(self, values):
        self.is_single = values.dtype == np.float32
        if self.is_single:
            self.single = values
        else:
            self.wide = values

    # copy rows, one after the other, to rows `stride` apart
    cdef void copy(
        self, Py_ssize_t start, Py_ssize_t n, Py_ssize_t columns, double* out, Py_ssize_t stride
    ) noexcept nogil:
        cdef const float* f
        cdef Py_ssize_t r, k
        for r in range(n):
            if self.is_single:
                f = &self.single[start + r * columns]
                for k in range(columns):
                    out[k] = f[k]
            else:
                memcpy(out, &self.wide[start + r * columns], columns * sizeof(double))
            out += stride


cdef class GivenMap(FeatureMap):
    """Where potentials lie that are given: edges have tables of their own, or those of a block one.

    Arguments are those of a `FeatureMap`, of rows without features.
    """

    cdef public bint one_each                # has a block one table?

    cdef bint is_bare(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return False

    cdef Py_ssize_t edge_table(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return self.edge_base(i) + (0 if self.one_each else e * self.edge_stride)


cdef class Given(Request):
    """Blocks whose potentials of nodes are given, and those of edges if they are not weights.

    Parameters
    ----------
    map, structure, weights : object
        As for a `Request`.
    nodes : ndarray of shape (n_rows * n_states,), float32 or float64
        Potentials of nodes, row after row, numbers or -inf.
    first : ndarray of shape (n_blocks,), int64
        The row of the first node of a block.
    tables : ndarray, float32 or float64, default=None
        Potentials of edges, table after table; None: features of edges have weights.
    table_first : ndarray of shape (n_blocks,), int64, default=None
        The first table of a block.
    step : {0, 1}, default=1
        0 if all edges of a block have its first table.
    """

    cdef Numbers node_numbers
    cdef Numbers tables
    cdef const int64_t[::1] row
    cdef const int64_t[::1] table_first
    cdef Py_ssize_t step
    cdef dict given

    def __cinit__(self, FeatureMap map, Structure structure, weights, *, nodes, first, tables=None,
                  table_first=None, Py_ssize_t step=1):
        self.given = dict(
            nodes=nodes, first=first, tables=tables, table_first=table_first, step=step
        )
        self.node_numbers, self.row, self.step = Numbers(nodes), first, step
        self.n_rows = len(nodes) // map.n_columns
        if tables is not None:
            self.tables, self.table_first = Numbers(tables), table_first

    cdef int load(self, Py_ssize_t i, double* theta, Block* b) except -1 nogil:
        cdef Py_ssize_t n = self.map.count(i), K = self.map.n_columns, stride = self.map.edge_stride
        cdef Py_ssize_t n_rows = 1, columns = self.map.edge_columns, e
        b.i, b.n, b.first, b.theta = i, n, self.row[i], theta
        if self.tables is None and self.map.edge_pairs:
            self.map.own_scores(i, &self.weights[0], theta)
        self.node_numbers.copy(b.first * K, n, K, theta + self.map.node_base, self.map.stride)
        if self.map.edge_pairs:
            n_rows, columns = self.map.head_rows, self.map.head_columns
        theta += self.map.edge_base(i)
        for e in range(self.map.n_edges(i) if self.tables is not None else 0):
            self.tables.copy(
                (self.table_first[i] + self.step * e) * n_rows * columns, n_rows, columns,
                theta + e * stride, stride // n_rows
            )
        return 0

    def fork(self):
        """Return the same request for another thread."""
        return Given(self.map, self.structure.fork(), self.weights, **self.given)


def find_hinges(Given given, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the hinges of the blocks start .. stop - 1.

    Parameters
    ----------
    given : Given
        The blocks.
    start, stop : int
        Which of them.
    out : tuple
        ``(label, known, loss, slack, completed, found, value, scale, exact)``. Labels (n_rows,)
        that are true, -1 where they are not known; a `NodeLoss` of the states that agree with
        them, and one whose truth is `completed`, or None for completions alone; the number of
        candidates for slack rescaling, 0 for margin rescaling. Then what is written: the labels,
        completed by the best ones (n_rows,); those that violate most; hinges (n_blocks,), -inf
        where the completed labels are forbidden; factors of their gradients; and whether both
        maxima are certain.
    """
    cdef const int32_t[::1] label = out[0]
    cdef NodeLoss known = out[1], loss = out[2]
    cdef bint has_loss = loss is not None, slack = out[3] > 0, certain
    cdef int32_t[::1] completed = out[4], found = out[5]
    cdef double[::1] value = out[6], scale = out[7], theta = given.begin()
    cdef unsigned char[::1] exact = out[8]
    cdef Structure structure = given.structure
    cdef int32_t[::1] index = np.empty(structure.max_support + 1, dtype=np.int32)
    cdef double[::1] sign = np.empty(structure.max_support + 1)
    cdef double[::1] h = np.empty(out[3]), g = np.empty(out[3])
    cdef Py_ssize_t i, t, c, best, n_known, n_wrong
    cdef int32_t* truth
    cdef int32_t* labels
    cdef double more
    cdef Block b
    with nogil:
        for i in range(start, stop):
            if not given.map.count(i):
                continue
            given.load(i, &theta[0], &b)
            truth, labels = &completed[b.first], &found[b.first]
            n_known, certain = 0, True
            for t in range(b.n):
                n_known += label[b.first + t] >= 0
                truth[t] = max(label[b.first + t], 0)
            if n_known < b.n:
                structure.best(&b, known, 0.0, truth)
                certain = structure.excess == 0.0
            # where nothing is allowed any labelling may be found
            n_wrong = 0
            for t in range(b.n):
                n_wrong += label[b.first + t] >= 0 and truth[t] != label[b.first + t]
            if n_wrong or not structure.score(&b, truth) > -INFINITY:
                value[i] = -INFINITY
                continue
            if not has_loss:
                continue
            memcpy(labels, truth, b.n * sizeof(int32_t))
            if slack:
                best, more = 0, 0.0
                for c in range(structure.candidates(&b, loss, &h[0], &g[0])):
                    if g[c] * (1.0 + h[c]) > more:
                        best, more = c, g[c] * (1.0 + h[c])
                scale[i] = g[best]
                if best:
                    structure.take(&b, loss, best, labels)
            else:
                structure.best(&b, loss, 1.0, labels)
                certain = certain and structure.excess == 0.0
            exact[i] = certain
            more = 0.0
            # equal terms cancel to the last bit
            for t in range(structure.plane(&b, truth, labels, &index[0], &sign[0])):
                more -= sign[t] * theta[index[t]]
            if slack:
                value[i] = max(scale[i] * (1.0 + more), 0.0)
            else:
                value[i] = max(structure.loss_of(&b, loss, labels) + more, 0.0)
