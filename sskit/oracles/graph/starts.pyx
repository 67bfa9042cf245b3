"""Approximate maximisation from several starts, for tables where one start may end far off."""

from libc.math cimport fabs
from libc.string cimport memcpy
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair as Pair

from sskit.oracles.graph.forest_moves cimport ForestMoves, find
from sskit.oracles.graph.potentials cimport ROUNDING, labelling_score, pair_score, table_of


cdef class ManyStarts(GraphOracle):
    """Moves from the given labelling, from each constant one, and from that of a spanning tree.

    A swap changes nodes of two states only. Where a table sets two states against each other
    that others lie between, no swap leads out of a labelling in which they are neighbours: it
    has to be started elsewhere. A constant labelling offends no pair, and the labelling that is
    best for a spanning forest of the edges that matter most offends few. The best answer is
    improved by `ForestMoves`, and by moves again, in turn.

    Parameters
    ----------
    moves : MoveMaking
        Makes the moves.
    forest : GraphOracle
        Labels graphs without cycles.
    """

    def __cinit__(self, MoveMaking moves, GraphOracle forest):
        self.moves = moves
        self.forest = forest
        self.forest_moves = ForestMoves(forest)

    cpdef GraphOracle fork(self):
        return ManyStarts(self.moves.fork(), self.forest.fork())

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef Potentials spanned = p[0]
        cdef int32_t k
        cdef double score, before
        self.moves.improve(p, labels)
        if takes_expansions(p):
            return 0
        score = labelling_score(p, labels)
        for k in range(p.n_states):
            self.trial.refill(p.n_nodes, k)
            self.attempt(p, labels, &score)
        self.order.resize(p.n_edges)
        self.root.refill(p.n_nodes, 0)
        self.ends.refill(2 * p.n_nodes, 0)
        self.table.refill(p.n_nodes, 0)
        spanned.n_edges = self.span(p)
        spanned.ends, spanned.table = self.ends.data(), self.table.data()
        self.forest.improve(&spanned, self.trial.data())
        self.attempt(p, labels, &score)
        while True:
            memcpy(self.trial.data(), labels, p.n_nodes * sizeof(int32_t))
            self.forest_moves.improve(p, self.trial.data())
            before = score
            self.attempt(p, labels, &score)
            if not score > before:
                return 0

    cdef int attempt(self, const Potentials* p, int32_t* labels, double* score) except -1 nogil:
        cdef double value
        self.moves.improve(p, self.trial.data())
        value = labelling_score(p, self.trial.data())
        # of answers that are as good the first stays, so that a better start is never left
        if value > score[0] + ROUNDING * fabs(score[0]):
            score[0] = value
            memcpy(labels, self.trial.data(), p.n_nodes * sizeof(int32_t))
        return 0

    cdef Py_ssize_t span(self, const Potentials* p) noexcept nogil:
        """Choose a spanning forest of largest total range of tables (Kruskal)."""
        cdef Py_ssize_t e, v, c, n_kept = 0, n_columns = p.column[p.n_states * p.n_states - 1] + 1
        cdef const double* row
        cdef double low, high
        cdef int32_t a, b
        for e in range(p.n_edges):
            row = p.pair + table_of(p, e) * p.width
            low = high = row[0]
            for c in range(1, n_columns):
                low, high = min(low, row[c]), max(high, row[c])
            self.order[e] = Pair[double, int32_t](low - high, <int32_t>e)  # ties: by number
        sort(self.order.data(), self.order.data() + p.n_edges)
        for v in range(p.n_nodes):
            self.root[v] = <int32_t>v
        for c in range(p.n_edges):
            e = self.order[c].second
            a, b = find(self.root, p.ends[2 * e]), find(self.root, p.ends[2 * e + 1])
            if a != b:
                self.root[b] = a
                self.ends[2 * n_kept], self.ends[2 * n_kept + 1] = p.ends[2 * e], p.ends[2 * e + 1]
                self.table[n_kept] = <int32_t>table_of(p, e)
                n_kept += 1
        return n_kept


cdef bint takes_expansions(const Potentials* p) noexcept nogil:
    cdef Py_ssize_t e
    cdef int32_t a, b, c
    cdef double stay, same, most
    if p.potts:
        return True
    for e in range(p.n_edges):
        for a in range(<int32_t>p.n_states):
            same = pair_score(p, e, a, a)
            for b in range(<int32_t>p.n_states):
                stay = same - pair_score(p, e, b, a)
                for c in range(<int32_t>p.n_states):
                    most = pair_score(p, e, a, c) - pair_score(p, e, b, c)
                    if stay - most < -ROUNDING * (fabs(stay) + fabs(most)):
                        return False
    return True
