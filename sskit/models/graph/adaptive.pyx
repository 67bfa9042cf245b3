"""Graphs whose potentials differ from call to call, and the choice of their oracles."""

import numpy as np

from sskit.oracles.graph.potentials import NAMES

from libc.math cimport fabs, isfinite
from libc.stdint cimport int32_t

from sskit.models.feature_map cimport FeatureMap
from sskit.models.graph.structure cimport GraphStructure
from sskit.models.structure cimport Block, NodeLoss
from sskit.oracles.graph.potentials cimport (
    ROUNDING, TREE, GraphOracle, PairForm, Potentials, Topology, choose_oracle, nodes_alone,
    pair_score, size_of
)
from sskit.oracles.tree.max_sum cimport TreeOracle

# Elimination may read so many numbers beside those of the nodes: some 3 ms.
cdef Py_ssize_t MODEST_ENTRIES = 2**20


cdef class AdaptiveGraphs(GraphStructure):
    """Graphs, or forests, whose oracles are chosen by their potentials.

    Parameters
    ----------
    map, form, ends, edges, kinds, choice : object
        As for a `GraphStructure`; `adaptive_graphs` makes the last two.
    table : ndarray of shape (n_edges,), int32, default=None
        Which table of the head, or of its graph, an edge has; None: each has its own.
    forests : bool, default=True
        Whether a cycle is an error.
    words : tuple of str, default=("tree", "node")
        What a graph and a node are called.
    """

    cdef bint forests
    cdef tuple words
    # scratch
    cdef Topology topology           # of the edges at hand

    def __cinit__(self, *args, bint forests=True, tuple words=("tree", "node"), **options):
        self.forests, self.words = forests, words

    cdef int refuse(self, const Block* b, str what) except -1:
        raise ValueError(f"{self.words[0]} {b.i}: {what}")

    cdef int prepare(self, const Block* b, Potentials* p) except -1 nogil:
        cdef Py_ssize_t e
        self.topology.take(p.n_nodes, p.n_edges, p.ends)
        p.topology = &self.topology
        if self.forests:
            e = self.topology.closing_edge()
            if e >= 0:
                with gil:
                    self.refuse(
                        b, f"edges[{e}] between the {self.words[1]}s {p.ends[2 * e]} and "
                        f"{p.ends[2 * e + 1]} closes a cycle; the edges of a tree form a forest"
                    )
            self.topology.make_forest()
        return 0

    # With a loss `code` holds a labelling to begin with.
    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef Potentials p
        self.load(b, &p)
        if weight != 0.0 or loss.has_masks:
            loss.add(b.first, b.n, weight, self.copy_nodes(&p), p.stride)
            self.make_finite(&p)
        if weight == 0.0:
            nodes_alone(&p, code)
        return self.improve(b, &p, code)

    # a best labelling, if the oracle is exact; `labels` has one to begin with
    cdef int improve(self, const Block* b, Potentials* p, int32_t* labels) except -1 nogil:
        cdef bint finite = True, cuts = False, forbids
        cdef Py_ssize_t most
        cdef int k
        self.prepare(b, p)
        if self.topology.closing_edge() >= 0:
            finite = isfinite(4.0 * size_of(p, &forbids)) and not forbids
            cuts = p.n_states == 2 and finite and self.takes_cuts(p)
        # nodes of one possible state cost nothing, however many there are
        most = MODEST_ENTRIES + p.n_nodes * p.n_states
        k = choose_oracle(&self.topology, p.n_states, cuts, p.potts, not finite, most, 0.0)
        (<GraphOracle>self.oracle_of[k]).arrange(&self.topology, p.n_states)
        if finite:
            self.run_oracle(k, p, labels, NULL)
        else:
            with gil:
                try:
                    self.run_oracle(k, p, labels, NULL)
                except ValueError as error:  # nothing is allowed
                    self.refuse(b, str(error))
        if self.excess <= 1e-9 * (1.0 + fabs((<GraphOracle>self.oracle_of[k]).bound)):
            self.excess = 0.0
        return 0

    # can a cut represent all edges of two states?
    cdef bint takes_cuts(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t e
        cdef double s, t, u, v
        for e in range(p.n_edges):
            s, t = pair_score(p, e, 0, 0), pair_score(p, e, 1, 1)
            u, v = pair_score(p, e, 0, 1), pair_score(p, e, 1, 0)
            if not (s + t) - (u + v) >= -ROUNDING * (fabs(s) + fabs(t) + fabs(u) + fabs(v)):
                return False
        return True

    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil:
        (<TreeOracle>self.oracle_of[TREE]).programme.sample(uniform, code)
        return 0


def adaptive_graphs(FeatureMap map, PairForm form, ends, edges, table=None, **further):
    """Return `AdaptiveGraphs`, with all oracles, by their numbers in the rule of choice."""
    first_for_marginals = np.full(map.n_blocks, TREE, dtype=np.int8)
    options = {"table": table, "marginals": True}
    return AdaptiveGraphs(map, form, ends, edges, NAMES, first_for_marginals, **options, **further)
