"""The contract of factors and their oracles, called from Python: for tests."""

import numpy as np

cimport cython
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.checks cimport check_equal, check_indices
from sskit.core.decomposition cimport Factors
from sskit.core.lanes cimport LANES
from sskit.solvers.dual_decomposition.sweeps cimport (
    Atom,
    FactorSweep,
    LabelProjection,
    LabelSweep,
)

cdef extern from "label_block.hpp" namespace "sskit":
    struct Link:
        int32_t edge
        float both
        float* mu
        double* end
    # what the solver itself does not read
    cppclass OpenBlock "sskit::LabelBlock":
        vector[double] y
        vector[double] reduced
        vector[Link] links
        void bind(
            Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* costs,
            double* pair_weights
        )
        void renew()
        Py_ssize_t best_edge()

cdef extern from "label_projection.hpp" namespace "sskit":
    struct StoredLabel:
        int32_t label
        double fraction
    struct StoredPair:
        int32_t edge
        double both
    cppclass OpenMarginals "sskit::StoredMarginals":
        vector[StoredLabel] labels
        vector[StoredPair] pairs


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
        return check_indices([j - nodes.start], len(nodes), f"after node {nodes.start}, node")

    cdef int check_edge(self, Py_ssize_t i, Py_ssize_t e) except -1:
        check_indices([i], self.factors.n_blocks, "block")
        first, last = self.factors.first_edge[i], self.factors.first_edge[i + 1]
        return check_indices([e - first], last - first, f"after edge {first}, edge")

    def nodes(self, Py_ssize_t i):
        """Return the nodes of a block."""
        check_indices([i], self.factors.n_blocks, "block")
        return range(self.factors.first_node[i], self.factors.first_node[i + 1])

    def edges(self, Py_ssize_t i):
        """Return the edges of a block as tuples (number, first end, second end)."""
        cdef Py_ssize_t e
        check_indices([i], self.factors.n_blocks, "block")
        found = []
        for e in range(self.factors.first_edge[i], self.factors.first_edge[i + 1]):
            found.append((e, self.factors.end(i, e, 0), self.factors.end(i, e, 1)))
        return found

    def truth(self, Py_ssize_t j):
        """Return the true state of a node and the loss of another."""
        check_indices([j], self.factors.n_nodes, "node")
        return self.factors.truth[j], self.factors.cost_of(j)

    def node_scores(self, Py_ssize_t i, Py_ssize_t j, w, start=0, stop=None):
        """Return the scores of the states start .. stop - 1 of a node."""
        stop = self.factors.n_states if stop is None else stop
        self.check_node(i, j)
        check_indices([start, stop], self.factors.n_states + 1, "states")
        cdef double[::1] out = np.full(self.factors.n_states + LANES, np.nan)
        cdef double[::1] weights = self.padded(w)
        self.factors.node_scores(i, j, &weights[0], start, stop, &out[0])
        return np.array(out[start:stop])

    cdef tuple known(self, Py_ssize_t i, Py_ssize_t f, const int32_t* state, w):
        """Return score, squared norm and joint features of a state."""
        cdef double[::1] weights = self.padded(w), moved = self.padded(0.0 * w)
        self.factors.scatter(i, f, state, 1.0, &moved[0])
        return (
            self.factors.score(i, f, state, &weights[0]),
            self.factors.sqnorm(i, f, state),
            np.array(moved[: self.factors.n_weights]),
        )

    def node(self, Py_ssize_t i, Py_ssize_t j, int32_t y, w):
        """Return score, squared norm and joint features of a state of a node."""
        cdef int32_t state[2]
        self.check_node(i, j)
        check_indices([y], self.factors.n_states, "state")
        state[0], state[1] = y, 0
        return self.known(i, j, state, w)

    def edge_table(self, Py_ssize_t i, Py_ssize_t e, w):
        """Return the scores of all pairs of an edge, shape (n_states, n_states)."""
        cdef Py_ssize_t n_states = self.factors.n_states, a
        cdef double[::1] weights = self.padded(w)
        cdef double[:, ::1] table = np.empty((n_states, n_states + LANES))
        self.check_edge(i, e)
        for a in range(n_states):
            self.factors.edge_scores(i, e, &weights[0], <int32_t>a, &table[a, 0])
        return np.array(table[:, :n_states])

    def edge(self, Py_ssize_t i, Py_ssize_t e, int32_t pair, w):
        """Return score, squared norm and joint features of a pair of an edge."""
        cdef int32_t state[2]
        cdef int32_t n_states = <int32_t>self.factors.n_states
        self.check_edge(i, e)
        check_indices([pair], n_states * n_states, "pair")
        state[0], state[1] = pair // n_states, pair % n_states
        return self.known(i, self.factors.n_nodes + e, state, w)


def look_at(FactorSweep sweep, Py_ssize_t i, Py_ssize_t f):
    """Call the oracle of a factor; return the state that it found and the gain of this state.

    Parameters
    ----------
    sweep : FactorSweep
        Has the oracle; the state joins the mix.
    i, f : int
        Block and factor, a node or n_nodes + e for edge e.

    Returns
    -------
    state : int
        The state, of an edge the pair.
    gain : float
        Its gain.
    """
    cdef Py_ssize_t n_nodes = sweep.factors.n_nodes, best
    if f < n_nodes:
        FactorProbe(sweep.factors).check_node(i, f)
    else:
        FactorProbe(sweep.factors).check_edge(i, f - n_nodes)
    best = sweep.score_states(i, f, True)
    return state_of(sweep, f, sweep.mixes[f][best]), sweep.atoms.score[best]


cdef state_of(FactorSweep sweep, Py_ssize_t f, Atom atom):
    if f < sweep.factors.n_nodes:
        return atom.label[0]
    return atom.label[0] * sweep.factors.n_states + atom.label[1]


def mixes(FactorSweep sweep):
    """Return copies of the mixes of all nodes and edges, lists of (states, weights)."""
    cdef Py_ssize_t f, n_nodes = sweep.factors.n_nodes
    cdef Atom atom
    found = []
    for f in range(n_nodes + sweep.factors.n_edges):
        states = [state_of(sweep, f, atom) for atom in sweep.mixes[f]]
        weights = [atom.weight for atom in sweep.mixes[f]]
        found.append((np.array(states, int), np.array(weights)))
    return found[:n_nodes], found[n_nodes:]


def multipliers(FactorSweep sweep):
    """Return copies of labels and multipliers of all messages, a list of pairs."""
    cdef Py_ssize_t m
    cdef Atom mu
    found = []
    for m in range(2 * sweep.factors.n_edges):
        labels = [mu.label[0] for mu in sweep.messages[m]]
        found.append((np.array(labels, int), np.array([mu.weight for mu in sweep.messages[m]])))
    return found


def renew(FactorSweep sweep):
    """Tell an oracle that weights have moved."""
    sweep.search.renew()


@cython.boundscheck(True)
@cython.wraparound(True)
def fractions(LabelSweep sweep):
    """Return a copy of y, (n_blocks, n_labels)."""
    cdef Py_ssize_t i, n_labels = sweep.labels.n_labels
    y = np.empty((sweep.labels.n_blocks, n_labels))
    for i in range(len(y)):
        sweep.block.load(sweep.stored[i], &sweep.labels.truth[i * n_labels])
        y[i] = (<OpenBlock*>&sweep.block).y
    return y


def links(LabelSweep sweep, Py_ssize_t i):
    """Return the links of a block: (edge, q(1, 1), marginals, multipliers) of each."""
    cdef Link link
    cdef Py_ssize_t n_labels = sweep.labels.n_labels
    check_indices([i], sweep.labels.n_blocks, "block")
    sweep.block.load(sweep.stored[i], &sweep.labels.truth[i * n_labels])
    return [
        (link.edge, link.both, (link.end[0], link.end[1]), (link.mu[0], link.mu[1]))
        for link in (<OpenBlock*>&sweep.block).links
    ]


def projected(LabelProjection sweep):
    """Return copies of y, (n_blocks, n_labels), and of z, (n_blocks, n_pairs)."""
    cdef OpenMarginals* block
    cdef StoredLabel label
    cdef StoredPair pair
    cdef Py_ssize_t i, n = sweep.labels.n_blocks
    ends = np.asarray(sweep.labels.ends)[: sweep.labels.n_pairs]
    y = np.array(sweep.labels.truth, dtype=float).reshape(n, sweep.labels.n_labels)
    z = y[:, ends[:, 0]] * y[:, ends[:, 1]]
    for i in range(n):
        block = <OpenMarginals*>&sweep.stored[i]
        for label in block.labels:
            y[i, label.label] = label.fraction
        for pair in block.pairs:
            z[i, pair.edge] = pair.both
    return y, z


cdef class PairProbe:
    """The search for a pair of labels.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    ends : ndarray of shape (n_edges, 2), int32
        The labels of each edge.
    """

    cdef OpenBlock block
    cdef const int32_t[:, ::1] ends
    cdef double[::1] cost
    cdef double[::1] weights

    def __cinit__(self, Py_ssize_t n_labels, const int32_t[:, ::1] ends):
        self.ends, self.cost, self.weights = ends, np.ones(n_labels), np.zeros(len(ends))
        self.block.bind(n_labels, len(ends), &ends[0, 0], &self.cost[0], &self.weights[0])

    def renew(self, weights):
        """Give pairs these weights."""
        np.asarray(self.weights)[:] = weights
        self.block.renew()

    def find(self, reduced):
        """Return the best pair, or None, and what is left of gains by themselves."""
        self.block.reduced = reduced
        cdef Py_ssize_t e = self.block.best_edge()
        return None if e < 0 else tuple(self.ends[e]), np.array(self.block.reduced)
