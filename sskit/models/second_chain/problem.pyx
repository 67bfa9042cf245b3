"""The chain model of the second order bound to data (see the .pxd)."""

import numpy as np

from sskit.core.fingerprint import Fingerprint

from sskit.core.direction cimport Direction
from sskit.models.row_kernels cimport grow
from sskit.oracles.chain.second_order cimport (
    second_order_labels, second_order_room, triple_room, triple_table
)

MOST_STATISTICS = 2**31 - 1


cdef class SecondChainProblem(ChainProblem):
    """Chains of the second order bound to data.

    Parameters
    ----------
    features, offsets, n_states, labels, cost, block_weight : object
        As of `ChainProblem`.
    allowed, allowed_start, allowed_end : ndarray or None
        Likewise: three labels in a row are allowed if both of their transitions are.
    """

    def __cinit__(self, features, offsets, Py_ssize_t n_states, *args):
        longest = self.max_code_length
        self.triple_statistics, self.triple_weights = self.max_statistics, self.n_weights
        self.max_statistics += triple_room(n_states)
        if self.max_statistics > MOST_STATISTICS:
            raise ValueError(
                f"{n_states} labels are too many for a chain of the second order: it has a weight "
                "for any three of them"
            )
        self.n_weights += n_states**3
        self.max_support += 2 * longest
        self.value = np.empty(second_order_room(longest, n_states))

    cdef Py_ssize_t triple_weight(self, Py_ssize_t j) noexcept nogil:
        j -= self.triple_statistics
        return self.triple_weights + j // self.stride * self.n_states + j % self.stride

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        ChainProblem.scores(self, i, w, theta)
        if self.length(i) > 2:
            triple_table(w + self.triple_weights, self.n_states, theta + self.triple_statistics)
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t entry, n = 0
        self.others.resize(count)
        for entry in range(count):
            if index[entry] < self.triple_statistics:
                self.others[n] = index[entry]
                n += 1
            else:
                theta[index[entry]] = w[self.triple_weight(index[entry])]
        return ChainProblem.scores_at(self, i, w, self.others.data(), n, theta)

    cdef double decode(
        self, Py_ssize_t i, const double* node, const double* theta, const int32_t* labels,
        const double* cost, double loss_weight, int32_t* code
    ) noexcept nogil:
        return second_order_labels(
            node, theta, theta + self.triple_statistics, self.length(i), self.n_states, labels,
            cost, loss_weight, &self.value[0], code
        )

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const int32_t* labels = &self.labels[self.offsets[i]]
        cdef int32_t stride = <int32_t>self.stride, n_states = <int32_t>self.n_states
        cdef int32_t first = <int32_t>self.triple_statistics
        cdef Py_ssize_t t, n = ChainProblem.plane(self, i, code, index, value)
        for t in range(2, self.length(i)):
            if (
                code[t] == labels[t] and code[t - 1] == labels[t - 1]
                and code[t - 2] == labels[t - 2]
            ):
                continue
            index[n] = first + (labels[t - 2] * n_states + labels[t - 1]) * stride + labels[t]
            index[n + 1] = first + (code[t - 2] * n_states + code[t - 1]) * stride + code[t]
            value[n], value[n + 1] = 1.0, -1.0
            n += 2
        return n

    cdef double scatter_rest(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil:
        cdef double growth = ChainProblem.scatter_rest(self, i, delta, step, v)
        cdef Py_ssize_t entry, j
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= self.triple_statistics:
                growth += grow(&v[self.triple_weight(j)], step * delta.value[j])
        return growth

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t entry, j
        ChainProblem.clip(self, i, delta, v, lower, upper, w)
        for entry in range(delta.n):
            if delta.index[entry] >= self.triple_statistics:
                j = self.triple_weight(delta.index[entry])
                w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef Py_ssize_t entry, j
        cdef double total = 0.0
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= self.triple_statistics:
                total += delta.value[j] * delta.value[j]
        return total + ChainProblem.sqnorm(self, i, delta)

    def decomposition(self):
        """Return None: three labels in a row are no pair."""
        return None

    def slack_oracle(self):
        """Return None: there are searches alone."""
        return None

    def fingerprint(self):
        """Return by what the same sequences, labels, losses and transitions are known again."""
        inner = ChainProblem.fingerprint(self)
        whole = {"the model": "chain of the second order"}
        return Fingerprint(inner.whole | whole, inner.blocks)
