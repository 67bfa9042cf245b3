"""The chain model with node scores of a kernel space, bound to data."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal, check_least, check_range
from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem
from sskit.models.chain.grams cimport SequenceGrams
from sskit.models.chain.problem cimport ChainProblem
from sskit.models.features cimport FeatureRows
from sskit.models.kernel.expansion cimport KernelExpansion
from sskit.models.kernel.rows cimport KernelRows
from sskit.models.row_kernels cimport active_rows


cdef class KernelChainProblem(ChainProblem):
    """Linear chains whose nodes are scored by functions of a kernel space.

    What is linear, transitions, start and end, is a chain problem without features; the
    functions of the kernel space follow in the weight vector.

    Parameters
    ----------
    features : FeatureRows
        As many rows as there are nodes, without features.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Sequence i has the nodes offsets[i] to offsets[i + 1] - 1; at least one.
    n_states : int
        Number of states K.
    labels : ndarray of shape (n_rows,), int32
        True states.
    cost : ndarray of shape (n_rows,), float64
        Loss of a wrong state at each node.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sequences, summing to one.
    allowed : ndarray of shape (n_states, n_states), bool or None
        Allowed transitions, from row to column.
    allowed_start, allowed_end : ndarray of shape (n_states,), bool or None
        States that a sequence may begin and end with.
    rows : KernelRows
        The kernel matrix of the nodes of all sequences.
    identity : callable
        Returns the `Fingerprint` of the problem.
    """

    cdef readonly KernelExpansion functions
    cdef object rebuild
    cdef object identity

    def __cinit__(self, FeatureRows features, offsets, Py_ssize_t n_states, labels, cost,
                  block_weight, allowed, allowed_start, allowed_end, KernelRows rows,
                  identity):
        check_equal(rows.n_rows, features.n_rows, "the number of kernel rows")
        self.space = self.functions = KernelExpansion(
            rows, n_states, self.n_weights, offsets, labels
        )
        self.n_weights = self.functions.stop
        self.lock_free = False     # rows come from Python
        self.identity = identity
        self.rebuild = (
            features, offsets, n_states, labels, cost, block_weight, allowed, allowed_start,
            allowed_end, rows, identity,
        )

    def take_gram(self, blocks):
        """Take the kernel matrices of the nodes of each sequence, which `sqnorm` needs.

        Parameters
        ----------
        blocks : iterable of (first, last, ndarray)
            Numbers of sequences, first to last - 1, and the kernel matrix of all of their nodes.
        """
        cdef Py_ssize_t i, s, t, origin, first, last
        cdef const double[:, ::1] matrix
        cdef double* gram
        rows = self.functions.rows
        lengths = np.diff(self.offsets)
        sizes = lengths * (lengths + 1) // 2
        cdef SequenceGrams grams = SequenceGrams(np.cumsum(sizes) - sizes, np.empty(sizes.sum()))
        for first, last, kernels in blocks:
            check_range(first, last, self.n_blocks, "blocks")
            matrix = rows.rounded(kernels)
            origin = self.offsets[first]
            check_least(min(kernels.shape), self.offsets[last] - origin, "the number of kernels")
            for i in range(first, last):
                gram = &grams.full[grams.offset[i]]
                for t in range(self.length(i)):
                    for s in range(t + 1):
                        gram[t * (t + 1) // 2 + s] = matrix[
                            self.offsets[i] - origin + s, self.offsets[i] - origin + t
                        ]
                # start and end weights are one more feature of the first and the last node
                gram[0] += 1.0
                gram[self.length(i) * (self.length(i) + 1) // 2 - 1] += 1.0
        self.grams = grams

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        ChainProblem.scores(self, i, w, theta)
        self.functions.add_values(
            self.offsets[i], self.length(i), w, theta + self.n_states * self.stride, self.stride
        )
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t t
        ChainProblem.scores_at(self, i, w, index, count, theta)
        for t in range(self.length(i)):
            if self.fresh[t] == self.request:
                self.functions.add_values(
                    self.offsets[i] + t, 1, w, theta + (self.n_states + t) * self.stride,
                    self.stride
                )
        return 0

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef const double* node = &delta.value[self.n_states * self.stride]
        cdef Py_ssize_t n_active
        ChainProblem.scatter(self, i, delta, step, v)
        n_active = active_rows(node, self.length(i), self.stride, &self.active[0])
        return self.functions.add_rows(
            self.offsets[i], &self.active[0], n_active, step, node, self.stride, v
        )

    cpdef Problem fork(self):
        cdef KernelChainProblem other = KernelChainProblem(*self.rebuild)
        other.grams = self.grams
        other.space.support = self.space.support
        return other

    def decomposition(self):
        """Return None: solvers that work factor by factor know no kernel spaces."""
        return None

    def fingerprint(self):
        """Return by what the same sequences, labels, losses and kernel are known again."""
        return self.identity()
