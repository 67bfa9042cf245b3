"""Projective dependency trees (Eisner 1996): y has the head of each word, 0 for the root.

Words are numbered from 1. x has a row of features for each arc: that from head h to word m of a
sentence of n words is row (m - 1) * (n + 1) + h. Those with h = m are never used.
"""

from math import isqrt

import numpy as np
from scipy.sparse import csr_array, vstack

from sskit.models import CompiledModel, no_features

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.models cimport Block, FeatureMap, FeatureRows, NodeLoss, Structure


cdef class ProjectiveParse(Structure):
    cdef FeatureMap map
    cdef double[:, ::1] arc                  # [m, h]: scores with losses
    cdef double[:, ::1] half                 # [h, m]: best with this arc, and all words between
    cdef double[:, ::1] span                 # [h, e]: best tree of the words from h to e, under h
    cdef double[:, ::1] back                 # [e, h]: the same

    def __cinit__(self, FeatureMap map):
        self.map, size = map, map.longest + 1
        self.max_code_length, self.max_support = map.longest, 2 * map.longest
        self.arc, self.half, self.span, self.back = np.zeros((4, size, size))

    cdef int best(self, const Block* b, NodeLoss loss, double weight,
                  int32_t* code) except -1 nogil:
        cdef Py_ssize_t m, row = self.map.edge_base(b.i)
        for m in range(1, b.n + 1):
            memcpy(&self.arc[m, 0], b.theta + row, (b.n + 1) * sizeof(double))
            row += b.n + 1
        loss.add(b.first, b.n, weight, &self.arc[1, 0], self.arc.shape[1])
        self.solve(b.n)
        self.follow(0, b.n, code)
        return 0

    cdef double solve(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, j, k
        cdef double both
        for j in range(n + 1):
            self.span[j, j] = self.back[j, j] = 0.0
            for i in range(j - 1, -1, -1):
                k = self.meet(i, j)
                both = self.span[i, k] + self.span[j, k + 1]
                self.half[i, j], self.half[j, i] = both + self.arc[j, i], both + self.arc[i, j]
                k = self.last(i, j)
                self.span[i, j] = self.back[j, i] = self.half[i, k] + self.back[j, k]
                k = self.last(j, i)
                self.span[j, i] = self.back[i, j] = self.half[j, k] + self.back[i, k]
        return self.span[0, n]

    # where the words under i end, and those under j begin, if there is an arc between i < j
    cdef Py_ssize_t meet(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return largest(&self.span[i, 0], &self.span[j, 1], i, j)

    # the farthest child of h, where its tree goes as far as e
    cdef Py_ssize_t last(self, Py_ssize_t h, Py_ssize_t e) noexcept nogil:
        return largest(&self.half[h, 0], &self.back[e, 0], min(h + 1, e), max(h, e + 1))

    cdef void follow(self, Py_ssize_t h, Py_ssize_t e, int32_t* code) noexcept nogil:
        cdef Py_ssize_t k, m
        if h != e:
            k = self.last(h, e)
            m = self.meet(min(h, k), max(h, k))
            code[k - 1] = <int32_t>h
            self.follow(min(h, k), m, code)
            self.follow(max(h, k), m + 1, code)
            self.follow(k, e, code)

    cdef Py_ssize_t plane(self, const Block* b, const int32_t* truth, const int32_t* code,
                          int32_t* index, double* value) except -1 nogil:
        cdef Py_ssize_t m, count = 0, row = self.map.edge_base(b.i)
        for m in range(b.n):
            if truth[m] != code[m]:
                index[count], index[count + 1] = row + truth[m], row + code[m]
                value[count], value[count + 1], count = 1.0, -1.0, count + 2
            row += b.n + 1
        return count

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t m, h                 # is it the best tree if each of its arcs scores one?
        for m in range(b.n):
            for h in range(b.n + 1):
                self.arc[m + 1, h] = code[m] == h
        return self.solve(b.n) == b.n


cdef Py_ssize_t largest(const double* a, const double* b, Py_ssize_t k, Py_ssize_t stop) nogil:
    cdef Py_ssize_t top = k
    for k in range(k + 1, stop):
        if a[k] + b[k] > a[top] + b[top]:
            top = k
    return top


class ParseModel(CompiledModel):
    structure = ProjectiveParse

    def feature_map(self, X):
        lengths = np.array([isqrt(x.shape[0]) for x in X])
        words, arcs = np.cumsum([0, *lengths]), np.cumsum([0, *lengths * (lengths + 1)])
        rows = FeatureRows(vstack([csr_array(x) for x in X], format="csr"))
        nothing = no_features(sum(lengths), n_marks=0)
        return FeatureMap(nothing, words, 1, edges=rows, edge_offsets=arcs, edge_columns=1)

    def n_states(self, map):
        return map.longest + 1
