"""A linear chain: x has a row of features for each of its tokens, y a label, 0 to K - 1.

This file is a complete structure, to be read from top to bottom. It has two classes. LinearChain,
compiled, answers one question for the solvers: which labelling violates the margin most? The other
one, ChainModel, in Python, says which features the parts of a labelling have. Neither sees weights:
the package multiplies them with the features, and passes the products, the potentials of a block.
"""

import numpy as np

# All that a compiled structure needs of the package: a class and a function in Python, and the
# public names of one .pxd file.
from sskit.models import CompiledModel, end_marks

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.models cimport Block, FeatureMap, FeatureRows, NodeLoss, Structure


# A block is one sequence. Its potentials, b.theta, have two parts here: first the table of pairs of
# labels, K rows of S numbers; then, from node_base on, a row of S numbers for each token. Rows of K
# numbers are padded to S, a multiple of eight, so that loops run over whole vectors of eight.
cdef class LinearChain(Structure):
    cdef FeatureMap map
    cdef double[::1] value                   # of the best labelling that ends in a label

    # The constructor makes room for the longest block, and says how long a labelling can get, and
    # how many numbers `plane` writes at most. Each thread constructs an object of its own.
    def __cinit__(self, FeatureMap map):
        self.map, self.value = map, np.empty(map.longest * map.stride)
        self.max_code_length, self.max_support = map.longest, 4 * map.longest

    # First method: the labelling that maximises  weight * loss(y) + <theta, m(y)>.  This is the
    # algorithm of Viterbi, value[t, k] = node[t, k] + max_j (value[t - 1, j] + table[j, k]), where
    # the losses have been added to the potentials of nodes. With weight = 0 it predicts. `loss.add`
    # also makes forbidden states -inf, which gives top k and hidden states without further code.
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
            # value[t] += (value[t - 1][:, None] + table).max(axis=0), eight columns at a time
            last = &self.value[(t - 1) * S]
            here = last + S
            for c in range(0, S, 8):
                for j in range(8):
                    top[j] = last[0] + table[c + j]
                for k in range(1, K):
                    for j in range(8):
                        top[j] = max(top[j], last[k] + table[k * S + c + j])
                for j in range(8):
                    here[c + j] += top[j]
        # the way back finds again where each maximum came from
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

    # Second method: m(truth) - m(code), by which the solver changes the weights. Each line is a
    # place in theta and a number: +1 for a part that only the truth has, -1 for one that only the
    # other labelling has. Parts are the label of a token, and the pair of it and the one before.
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

    # Third and last method: are these numbers a labelling? It is called once for every truth, and
    # for labellings that come from a file; the other methods trust their arguments.
    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(b.n):
            if not 0 <= code[t] < self.map.n_columns:
                return False
        return True


# What users fit: StructuredSVM(ChainModel(n_labels)). The map has all rows of all sequences, one
# after the other, K columns of weights for them, and a table of K x K weights for pairs. The marks
# of first and last rows are two further features: weights of labels that start or end a sequence.
class ChainModel(CompiledModel):
    structure = LinearChain

    def __init__(self, n_labels):
        self.n_labels = n_labels

    def feature_map(self, X):
        offsets, K = np.cumsum([0, *map(len, X)]), self.n_labels
        rows = FeatureRows(np.concatenate(X), marks=end_marks(offsets))
        return FeatureMap(rows, offsets, K, head=(K, K))
