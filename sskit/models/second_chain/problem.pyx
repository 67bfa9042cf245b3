"""The chain model of the second order: bound to data, and sequences that are to be labelled."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.chain.request import ChainDecoder
from sskit.oracles.chain.second_order import make_triple_table

from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.vectors cimport Scratch
from sskit.models.chain.problem cimport ChainProblem
from sskit.models.chain.request cimport ChainRequest
from sskit.models.features cimport grow
from sskit.oracles.chain.second_order cimport (
    SecondOrderKBest, marginals_room, second_order_labels, second_order_max_marginals_of,
    second_order_room, triple_room, triple_table
)

MOST_STATISTICS = 2**31 - 1


cdef class SecondChainProblem(ChainProblem):
    """Chains of the second order: statistics, potentials and weights.

    Behind the statistics that a sequence has in `ChainProblem`, which end with those of its last
    node, statistic triples_of(i) + (a * n_states + b) * stride + c counts where label c follows b
    and that follows a: places that do not depend on other sequences, so that a dual point holds
    when longer ones come. Potentials likewise: behind them stand the least and the largest of each
    row, which are no statistics (see oracles/chain/second_order.pxd).

    Weights, flat: those of `ChainProblem`, and triples (n_states, n_states, n_states).

    Parameters
    ----------
    features, offsets, n_states, labels, cost, block_weight : object
        As of `ChainProblem`.
    allowed, allowed_start, allowed_end : ndarray or None
        Likewise: three labels in a row are allowed if both of their transitions are.
    """

    cdef Py_ssize_t triple_weights           # where they begin
    # scratch
    cdef Scratch[int32_t] others             # statistics that are those of ChainProblem

    def __cinit__(self, features, offsets, Py_ssize_t n_states, *args):
        longest = self.max_code_length
        self.triple_weights = self.n_weights
        self.max_statistics += triple_room(n_states)
        if self.max_statistics > MOST_STATISTICS:
            raise ValueError(
                f"{n_states} labels are too many for a chain of the second order: it has a weight "
                "for any three of them"
            )
        self.n_weights += n_states**3
        self.max_support += 2 * longest
        self.value = np.empty(second_order_room(longest, n_states))

    # where the statistics of triples of a sequence begin
    cdef Py_ssize_t triples_of(self, Py_ssize_t i) noexcept nogil:
        return (self.n_states + self.length(i)) * self.stride

    # the weight of such a statistic, counted from there
    cdef Py_ssize_t triple_weight(self, Py_ssize_t j) noexcept nogil:
        return self.triple_weights + j // self.stride * self.n_states + j % self.stride

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        ChainProblem.scores(self, i, w, theta)
        if self.length(i) > 2:
            triple_table(w + self.triple_weights, self.n_states, theta + self.triples_of(i))
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t entry, n = 0, first = self.triples_of(i)
        self.others.resize(count)
        for entry in range(count):
            if index[entry] < first:
                self.others[n] = index[entry]
                n += 1
            else:
                theta[index[entry]] = w[self.triple_weight(index[entry] - first)]
        return ChainProblem.scores_at(self, i, w, self.others.data(), n, theta)

    cdef double decode(
        self, Py_ssize_t i, const double* node, const double* theta, const int32_t* labels,
        const double* cost, double loss_weight, int32_t* code
    ) noexcept nogil:
        return second_order_labels(
            node, theta, theta + self.triples_of(i), self.length(i), self.n_states, labels,
            cost, loss_weight, &self.value[0], code
        )

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const int32_t* labels = &self.labels[self.offsets[i]]
        cdef int32_t stride = <int32_t>self.stride, n_states = <int32_t>self.n_states
        cdef int32_t first = <int32_t>self.triples_of(i)
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
        cdef Py_ssize_t entry, j, first = self.triples_of(i)
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= first:
                growth += grow(&v[self.triple_weight(j - first)], step * delta.value[j])
        return growth

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t entry, j, first = self.triples_of(i)
        ChainProblem.clip(self, i, delta, v, lower, upper, w)
        for entry in range(delta.n):
            if delta.index[entry] >= first:
                j = self.triple_weight(delta.index[entry] - first)
                w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef Py_ssize_t entry, j, first = self.triples_of(i)
        cdef double total = 0.0
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= first:
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


cdef class SecondChainRequest(ChainRequest):
    """Sequences that a model of the second order is to label, and its weights.

    Parameters
    ----------
    features, offsets, transitions, start, end : object
        As of `ChainRequest`.
    allowed, allowed_start, allowed_end : ndarray or None
        Likewise.
    triples : ndarray of shape (n_states, n_states, n_states), float64
        Scores of three labels in a row.
    """

    cdef const double[::1] triples           # table of oracles/chain/second_order.pxd
    cdef object weights                      # (n_states, n_states, n_states) of triples

    def __cinit__(self, features, offsets, transitions, start, end, allowed, allowed_start,
                  allowed_end, triples):
        self.weights = np.asarray(triples, dtype=np.float64)
        self.triples = make_triple_table(self.weights)

    def backward_tables(self):
        """Return the tables of transitions and of triples of sequences read backwards."""
        rows = np.asarray(self.transitions)[: self.n_states * self.stride]
        rows = rows.reshape(self.n_states, self.stride)
        transitions = np.zeros_like(rows)
        transitions[:, : self.n_states] = rows[:, : self.n_states].T
        return transitions.ravel(), make_triple_table(self.weights.transpose(2, 1, 0))


def decode_best(SecondChainRequest chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the best labels of the sequences start .. stop - 1, out = (labels, no beam)."""
    cdef int32_t[::1] labels = out[0]
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef double[::1] value = np.empty(second_order_room(chains.longest, chains.n_states))
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            chains.nodes(i, &node[0])
            second_order_labels(
                &node[0], &chains.transitions[0], &chains.triples[0], chains.length(i),
                chains.n_states, NULL, NULL, 0.0, &value[0], &labels[chains.offsets[i]]
            )


def decode_top_k(SecondChainRequest chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the k best labellings and their scores, out = (k, list of labels, of scores)."""
    cdef Py_ssize_t k = out[0], i, found = 0, length
    cdef SecondOrderKBest search = SecondOrderKBest(chains.longest, chains.n_states, k)
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef int32_t[::1] labels = np.empty(k * chains.longest, dtype=np.int32)
    cdef double[::1] scores = np.empty(k)
    for i in range(start, stop):
        length = chains.length(i)
        with nogil:
            chains.nodes(i, &node[0])
            found = search.decode(
                &node[0], &chains.transitions[0], &chains.triples[0], length, &labels[0],
                &scores[0]
            )
        out[1][i] = np.array(labels[: found * length]).reshape(found, length)
        out[2][i] = np.array(scores[:found])


def decode_max_marginals(SecondChainRequest chains, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1, padded."""
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef double[::1] scratch = np.empty(marginals_room(chains.longest, chains.n_states))
    tables = chains.backward_tables()
    cdef const double[::1] pairs = tables[0], triples = tables[1]
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            chains.nodes(i, &node[0])
            second_order_max_marginals_of(
                &node[0], &chains.transitions[0], &chains.triples[0], &pairs[0], &triples[0],
                chains.length(i), chains.n_states, &scratch[0], &out[chains.offsets[i], 0]
            )


class SecondChainDecoder(ChainDecoder):
    """Labels of sequences: a `ChainDecoder` of a SecondChainRequest."""

    decode_best = staticmethod(decode_best)
    decode_top_k = staticmethod(decode_top_k)
    decode_max_marginals = staticmethod(decode_max_marginals)
