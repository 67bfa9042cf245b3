"""A linear chain: x has a row of features for each of its tokens, y a label, 0 to K - 1."""

import numpy as np

from sskit.models import CompiledModel
from sskit.models.features import FeatureRows, end_marks

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.models.feature_map cimport FeatureMap
from sskit.models.structure cimport Block, NodeLoss, Structure


cdef class LinearChain(Structure):
    cdef FeatureMap map
    cdef double[::1] value                   # of the best labelling that ends in a label

    def __cinit__(self, FeatureMap map):
        self.map, self.value = map, np.empty(map.longest * map.stride)
        self.max_code_length, self.max_support = map.longest, 4 * map.longest

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t t, c, j, k, S = self.map.stride, K = self.map.n_columns
        cdef const double* table = b.theta   # of pairs, rows of S
        cdef double* last
        cdef double* here = &self.value[0]
        cdef double top[8]
        memcpy(here, b.theta + self.map.node_base, b.n * S * sizeof(double))
        loss.add(b.first, b.n, weight, here, S)
        for t in range(1, b.n):
            last = &self.value[(t - 1) * S]
            here = last + S
            for c in range(0, S, 8):         # rows are padded to whole vectors of eight
                for j in range(8):
                    top[j] = last[0] + table[c + j]
                for k in range(1, K):
                    for j in range(8):
                        top[j] = max(top[j], last[k] + table[k * S + c + j])
                for j in range(8):
                    here[c + j] += top[j]
        code[b.n - 1] = self.largest(here, NULL)
        for t in range(b.n - 1, 0, -1):
            here -= S
            code[t - 1] = self.largest(here, table + code[t])
        return 0

    # the label with the largest score, its step to the next one included
    cdef int32_t largest(self, const double* value, const double* step) noexcept nogil:
        cdef Py_ssize_t k, best = 0
        cdef double score, top = -INFINITY
        for k in range(self.map.n_columns):
            score = value[k] if step == NULL else value[k] + step[k * self.map.stride]
            if score > top:
                top, best = score, k
        return <int32_t>best

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef Py_ssize_t t, n = 0, S = self.map.stride, node = self.map.node_base
        for t in range(b.n):
            if truth[t] != code[t]:
                index[n], index[n + 1] = node + t * S + truth[t], node + t * S + code[t]
                value[n], value[n + 1], n = 1.0, -1.0, n + 2
            if t and (truth[t - 1] != code[t - 1] or truth[t] != code[t]):
                index[n], index[n + 1] = truth[t - 1] * S + truth[t], code[t - 1] * S + code[t]
                value[n], value[n + 1], n = 1.0, -1.0, n + 2
        return n

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(b.n):
            if not 0 <= code[t] < self.map.n_columns:
                return False
        return True


class ChainModel(CompiledModel):
    structure = LinearChain

    def __init__(self, n_labels):
        self.n_labels = n_labels

    def feature_map(self, X):
        offsets, K = np.cumsum([0, *map(len, X)]), self.n_labels
        rows = FeatureRows(np.concatenate(X), marks=end_marks(offsets))
        return FeatureMap(rows, offsets, K, head=(K, K))
