"""Probabilities of labellings of many sequences under given potentials."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from sskit.core.lanes cimport padded
from sskit.core.vectors cimport Scratch
from sskit.oracles.chain.viterbi cimport viterbi_labels
from sskit.oracles.chain.sum_product cimport SumProduct


cdef class ChainPotentials:
    """Potentials of sequences.

    Parameters
    ----------
    nodes : ndarray of shape (n_tokens, n_states)
        Potentials of the tokens of all sequences, those of first and last labels included; -inf
        forbids a label.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Where the sequences begin; none is empty.
    transitions : ndarray of shape (n_states, n_states) or (n_tokens - n_blocks, n_states, n_states)
        Potentials of the transitions, from row to column, of all or of each of them; -inf forbids.
    """

    cdef double[:, ::1] rows
    cdef double[:, ::1] tables
    cdef const int64_t[::1] offsets
    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_nodes
    cdef readonly Py_ssize_t n_states
    cdef bint shared

    def __cinit__(self, const double[:, :] nodes, const int64_t[::1] offsets, transitions):
        cdef Py_ssize_t n_tables
        self.n_nodes, self.n_states = nodes.shape[0], nodes.shape[1]
        self.offsets, self.n_blocks = offsets, offsets.shape[0] - 1
        transitions = np.asarray(transitions, dtype=np.float64)
        self.shared = transitions.ndim == 2
        n_tables = 1 if self.shared else transitions.shape[0]
        self.rows = np.zeros((max(self.n_nodes, 1), padded(self.n_states)))
        np.asarray(self.rows)[: self.n_nodes, : self.n_states] = nodes
        self.tables = np.zeros((max(n_tables, 1) * self.n_states, padded(self.n_states)))
        np.asarray(self.tables)[: n_tables * self.n_states, : self.n_states] = (
            transitions.reshape(-1, self.n_states)
        )

    cdef const double* first_table(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t row = 0 if self.shared else (self.offsets[i] - i) * self.n_states
        # of a last sequence of one token this is the end of the tables
        return &self.tables[0, 0] + row * self.tables.shape[1]

    def fork(self):
        """Return the potentials: nothing of them is written to."""
        return self


def infer(ChainPotentials chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write what probabilities the labellings of the sequences start .. stop - 1 have.

    Parameters
    ----------
    chains : ChainPotentials
        The sequences.
    start, stop : int
        Which of them.
    out : tuple
        ``(log_partitions (n_blocks,), marginals (n_tokens, padded(n_states)) or None, pairs or
        None)``: log Z, -inf where no labelling is possible, the probabilities of labels, and
        (weights (n_blocks,), sums), where the probabilities of pairs of neighbours go, weighted.
        If all transitions have one table, `sums` is a dict, to which an array (n_states,
        padded(n_states)) is added by `start`, the expected numbers of transitions; if each has
        its own an array ((n_tokens - n_blocks) n_states, padded(n_states)), with a row at least.
    """
    log_partitions, marginals, pairs = out
    cdef double[::1] log_z = log_partitions
    cdef double[:, ::1] probabilities
    cdef double[:, ::1] own, total, each
    cdef const double[::1] weight
    cdef Scratch[double] scratch
    cdef SumProduct oracle = SumProduct()
    cdef Py_ssize_t K = chains.n_states, stride = padded(K), size = 0, i, length, k, a
    cdef const double* node
    cdef double* target = NULL
    cdef double* counts = NULL
    cdef bint wants_all = marginals is not None
    if wants_all:
        probabilities = marginals
    if pairs is not None:
        weight = pairs[0]
        if chains.shared:
            own, total = np.zeros((K, stride)), np.zeros((K, stride))
            pairs[1][start] = total
            counts = &own[0, 0]
        else:
            each = pairs[1]
            size = K * stride
    with nogil:
        for i in range(start, stop):
            length = chains.offsets[i + 1] - chains.offsets[i]
            if i == start or not chains.shared:
                oracle.begin(K, chains.first_table(i), chains.shared)
            node = &chains.rows[chains.offsets[i], 0]
            log_z[i] = oracle.forward(node, length)
            if size > 0:
                counts = &each[0, 0] + (chains.offsets[i] - i) * size
                memset(counts, 0, (length - 1) * size * sizeof(double))
            if log_z[i] == -INFINITY or not (wants_all or counts != NULL):
                continue
            if wants_all:
                target = &probabilities[chains.offsets[i], 0]
            else:
                scratch.resize(length * stride)
                target = scratch.data()
            oracle.backward(node, length, target, counts, size)
            if size > 0:
                for k in range((length - 1) * size):
                    counts[k] *= weight[i]
            elif counts != NULL:
                for a in range(K):
                    for k in range(stride):
                        total[a, k] += weight[i] * own[a, k]
                        own[a, k] = 0.0


def sample(ChainPotentials chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write labellings of the sequences start .. stop - 1, drawn by their probabilities.

    Parameters
    ----------
    chains : ChainPotentials
        The sequences, each of which has a labelling that is possible.
    start, stop : int
        Which of them.
    out : tuple
        ``(uniform, labels)``, both (n_samples, n_tokens): numbers of [0, 1), and where int32
        labels are written.
    """
    cdef const double[:, ::1] uniform = out[0]
    cdef int32_t[:, ::1] labels = out[1]
    cdef SumProduct oracle = SumProduct()
    cdef Py_ssize_t i, j, first, length
    cdef double log_z
    with nogil:
        for i in range(start, stop):
            first = chains.offsets[i]
            length = chains.offsets[i + 1] - first
            if i == start or not chains.shared:
                oracle.begin(chains.n_states, chains.first_table(i), chains.shared)
            log_z = oracle.forward(&chains.rows[first, 0], length)
            for j in range(uniform.shape[0]):
                if log_z == -INFINITY:
                    labels[j, first : first + length] = 0
                else:
                    oracle.sample(length, &uniform[j, first], &labels[j, first])


def best(ChainPotentials chains, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] labels):
    """Write the best labelling of the sequences start .. stop - 1."""
    cdef Scratch[double] value
    cdef Scratch[size_t] pointers
    cdef const double** tables = NULL
    cdef Py_ssize_t i, t, length, K = chains.n_states, stride = padded(K)
    with nogil:
        for i in range(start, stop):
            length = chains.offsets[i + 1] - chains.offsets[i]
            value.resize(length * stride)
            if not chains.shared:
                pointers.resize(length)
                tables = <const double**>pointers.data()
                for t in range(length - 1):
                    tables[t] = chains.first_table(i) + t * K * stride
            viterbi_labels(
                &chains.rows[chains.offsets[i], 0], &chains.tables[0, 0], tables, length, K, NULL,
                NULL, 0.0, value.data(), &labels[chains.offsets[i]]
            )
