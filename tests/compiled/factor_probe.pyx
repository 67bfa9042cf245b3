"""The contract of factors and their oracles, called from Python: for tests."""

import numpy as np

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.checks cimport check_equal, check_index, check_range
from sskit.core.decomposition cimport Factors
from sskit.core.lanes cimport LANES
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch, NodeSearch


cdef class FactorProbe:
    """Methods of factors on arrays.

    Parameters
    ----------
    factors : Factors
        What is probed.
    """

    cdef readonly Factors factors

    def __cinit__(self, Factors factors):
        self.factors = factors

    def padded(self, w):
        """Return weights of shape (n_weights,) with their spare ones."""
        check_equal(len(w), self.factors.n_weights, "the number of weights")
        return np.concatenate([w, np.zeros(LANES)])

    cdef int check_node(self, Py_ssize_t i, Py_ssize_t j) except -1:
        nodes = self.nodes(i)
        return check_index(j - nodes.start, len(nodes), f"after node {nodes.start}, node")

    cdef int check_edge(self, Py_ssize_t i, Py_ssize_t e) except -1:
        check_index(i, self.factors.n_blocks, "block")
        first, last = self.factors.first_edge(i), self.factors.first_edge(i + 1)
        return check_index(e - first, last - first, f"after edge {first}, edge")

    def nodes(self, Py_ssize_t i):
        """Return the nodes of a block."""
        check_index(i, self.factors.n_blocks, "block")
        return range(self.factors.first_node(i), self.factors.first_node(i + 1))

    def edges(self, Py_ssize_t i):
        """Return the edges of a block as tuples (number, first end, second end)."""
        cdef Py_ssize_t first, second
        check_index(i, self.factors.n_blocks, "block")
        found = []
        for e in range(self.factors.first_edge(i), self.factors.first_edge(i + 1)):
            self.factors.ends(i, e, &first, &second)
            found.append((e, first, second))
        return found

    def truth(self, Py_ssize_t j):
        """Return the true state of a node and the loss of another."""
        check_index(j, self.factors.n_nodes, "node")
        return self.factors.truth(j), self.factors.cost(j)

    def node_scores(self, Py_ssize_t i, Py_ssize_t j, w, start=0, stop=None):
        """Return the scores of the states start .. stop - 1 of a node."""
        stop = self.factors.n_states if stop is None else stop
        self.check_node(i, j)
        check_range(start, stop, self.factors.n_states, "states")
        cdef double[::1] out = np.full(self.factors.n_states + LANES, np.nan)
        cdef double[::1] weights = self.padded(w)
        self.factors.node_scores(i, j, &weights[0], start, stop, &out[0])
        return np.array(out[start:stop])

    def node(self, Py_ssize_t i, Py_ssize_t j, int32_t y, w):
        """Return score, squared norm and joint features of a state of a node."""
        cdef double[::1] weights = self.padded(w), moved = self.padded(0.0 * w)
        self.check_node(i, j)
        check_index(y, self.factors.n_states, "state")
        self.factors.move_node(i, j, y, 1.0, &moved[0])
        return (
            self.factors.node_score(i, j, &weights[0], y),
            self.factors.node_sqnorm(i, j, y),
            np.array(moved[: self.factors.n_weights]),
        )

    def edge_table(self, Py_ssize_t i, Py_ssize_t e, w):
        """Return the scores of all pairs of an edge, shape (n_states, n_states)."""
        cdef Py_ssize_t n_states = self.factors.n_states, a, b
        cdef double[::1] weights = self.padded(w), scratch = np.zeros(n_states + LANES)
        cdef double[:, ::1] table = np.empty((n_states, n_states))
        cdef const double* row
        self.check_edge(i, e)
        for a in range(n_states):
            row = self.factors.edge_row(i, e, &weights[0], <int32_t>a, &scratch[0])
            for b in range(n_states):
                table[a, b] = row[b]
        return np.asarray(table)

    def edge(self, Py_ssize_t i, Py_ssize_t e, int32_t pair, w):
        """Return score, squared norm and joint features of a pair of an edge."""
        cdef double[::1] weights = self.padded(w), moved = self.padded(0.0 * w)
        self.check_edge(i, e)
        check_index(pair, self.factors.n_states * self.factors.n_states, "pair")
        self.factors.move_edge(i, e, pair, 1.0, &moved[0])
        return (
            self.factors.edge_score(i, e, &weights[0], pair),
            self.factors.edge_sqnorm(i, e, pair),
            np.array(moved[: self.factors.n_weights]),
        )


def look_at_node(NodeSearch search, Py_ssize_t i, Py_ssize_t j):
    """Ask the oracle of a node; return the state that it found and the gain of this state.

    Parameters
    ----------
    search : NodeSearch
        The oracle; the state joins the mix.
    i, j : int
        Block and node.

    Returns
    -------
    state : int
        The state.
    gain : float
        Its gain.
    """
    cdef vector[double] gain
    FactorProbe(search.factors).check_node(i, j)
    gain.resize(search.state.nodes[j].n + 1)
    cdef Py_ssize_t best = search.look(i, j, &gain[0])
    return search.state.nodes[j].state[best], gain[best]


def look_at_edge(EdgeSearch search, Py_ssize_t i, Py_ssize_t e):
    """Ask the oracle of an edge, likewise.

    Parameters
    ----------
    search : EdgeSearch
        The oracle; the pair joins the mix.
    i, e : int
        Block and edge.

    Returns
    -------
    pair : int
        The pair.
    gain : float
        Its gain.
    """
    cdef vector[double] gain
    FactorProbe(search.factors).check_edge(i, e)
    gain.resize(search.state.edges[e].n + 1)
    cdef Py_ssize_t best = search.look(i, e, &gain[0])
    return search.state.edges[e].state[best], gain[best]
