"""Beam search: a good labelling of a sequence in time linear in the number of states."""

import numpy as np

from sskit.oracles.gate import check_chain, check_count, padded_rows
from sskit.oracles.chain.viterbi import viterbi

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_index, check_least
from sskit.core.lanes cimport padded

cdef extern from "beam.hpp" namespace "sskit":
    void beam_step(
        const double* value, const int32_t* kept, Py_ssize_t n_kept, const double* transition,
        Py_ssize_t stride, Py_ssize_t n_states, const double* node, double* out
    ) noexcept nogil
    Py_ssize_t largest_states(
        const double* value, Py_ssize_t n, Py_ssize_t size, double* scratch, int32_t* kept
    ) noexcept nogil


cdef class Beam:
    """Beam search on chains (see the .pxd).

    Parameters
    ----------
    max_nodes : int
        Largest number of nodes.
    n_states : int
        Number of states K.
    size : int
        Number of states that are kept at each node, from 1 to K - 1.
    """

    def __cinit__(self, Py_ssize_t max_nodes, Py_ssize_t n_states, Py_ssize_t size):
        check_least(max_nodes, 1, "max_nodes")
        check_index(size - 1, n_states - 1, "one less than size,")
        self.max_nodes, self.n_states, self.size = max_nodes, n_states, size
        self.value = np.empty(max_nodes * padded(n_states))
        self.scratch = np.empty(n_states)
        self.kept = np.empty(max_nodes * size, dtype=np.int32)
        self.n_kept = np.empty(max_nodes, dtype=np.int32)

    cdef double decode(
        self, const double* node, const double* transition, Py_ssize_t stride,
        Py_ssize_t n_nodes, int32_t* labels
    ) noexcept nogil:
        cdef Py_ssize_t row = padded(self.n_states), t, k, a
        cdef double best = -INFINITY, candidate
        cdef double* value = &self.value[0]
        cdef const int32_t* kept
        memcpy(value, node, self.n_states * sizeof(double))
        for t in range(n_nodes - 1):
            self.n_kept[t] = <int32_t>largest_states(
                value + t * row, self.n_states, self.size, &self.scratch[0],
                &self.kept[t * self.size],
            )
            if self.n_kept[t] == 0:
                return -INFINITY
            if self.tables != NULL:
                transition = self.tables[t]
            beam_step(
                value + t * row, &self.kept[t * self.size], self.n_kept[t], transition, stride,
                self.n_states, node + (t + 1) * row, value + (t + 1) * row,
            )
        labels[n_nodes - 1] = 0
        for a in range(self.n_states):
            if value[(n_nodes - 1) * row + a] > best:
                best = value[(n_nodes - 1) * row + a]
                labels[n_nodes - 1] = <int32_t>a
        cdef double total = best
        # back pointers along the best path only, as in the Viterbi algorithm
        for t in range(n_nodes - 2, -1, -1):
            kept = &self.kept[t * self.size]
            if self.tables != NULL:
                transition = self.tables[t]
            best = -INFINITY
            labels[t] = kept[0]
            for k in range(self.n_kept[t]):
                a = kept[k]
                candidate = value[t * row + a] + transition[a * stride + labels[t + 1]]
                if candidate > best:
                    best = candidate
                    labels[t] = <int32_t>a
        return total


def beam_search(nodes, transitions, beam_size):
    """Find a good labelling of a chain with many states.

    The score of a labelling is ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t]``. At each
    node the `beam_size` states in which the best labellings of the nodes so far end are kept, and
    the next node goes on from these only. What is found is a labelling with its true score,
    which is at most that of `viterbi`: a labelling that begins badly and ends well may be lost.
    O(n_nodes n_states beam_size).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    beam_size : int
        Number of states that are kept, positive. From n_states on the answer is that of
        `viterbi`, exactly.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        The labelling that was found. Of several the one with the smallest last state, and so on
        backwards. Where the beam loses all labellings that are allowed, that of `viterbi`.
    score : float
        Its score.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf,
        `beam_size` is not a positive integer or no labelling is allowed.

    References
    ----------
    Lowerre (1976). The HARPY speech recognition system. PhD thesis, Carnegie Mellon University.

    Examples
    --------
    >>> from sskit.oracles import beam_search
    >>> nodes, transitions = [[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 3]]
    >>> labels, score = beam_search(nodes, transitions, 1)
    >>> labels, score
    (array([0, 0, 0], dtype=int32), 2.0)
    >>> labels, score = beam_search(nodes, transitions, 2)
    >>> labels, score
    (array([1, 1, 1], dtype=int32), 6.5)
    """
    nodes, transitions = check_chain(nodes, transitions)[:2]
    beam_size = check_count(beam_size, "beam_size")
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    if beam_size >= n_states:
        return viterbi(nodes, transitions)
    cdef Beam beam = Beam(n_nodes, n_states, beam_size)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] transition_rows = padded_rows(transitions)
    labels = np.empty(n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef double score
    with nogil:
        score = beam.decode(
            &node_rows[0, 0], &transition_rows[0, 0], transition_rows.shape[1], n_nodes, &out[0]
        )
    if score == -INFINITY:
        return viterbi(nodes, transitions)
    return labels, score
