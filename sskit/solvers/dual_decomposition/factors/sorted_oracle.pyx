"""Factorwise maximisation oracles in sublinear time (section 3.2 of Yen et al. 2016)."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.sampler cimport SumTree
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch
from sskit.solvers.dual_decomposition.factors.state cimport FactorState, Message, Mix


cdef extern from "partners.hpp" namespace "sskit" nogil:
    struct Partner:
        double weight
        int32_t label
    # the partners of a label with which it makes a pair of positive weight
    cdef cppclass Order:
        vector[Partner] partners
        bint stale
        double top()
        void hold(int32_t label) except +
        void sort(const double* weights, Py_ssize_t stride)


# A pair whose weight is about to change
cdef struct Move:
    int32_t pair
    double before


cdef class OrderedSearch(EdgeSearch):
    """The best pair of an edge from ordered weights: appendix C-1, four cases.

    A pair gains its weight less what the messages of its two labels count. Messages are zero but
    on a few labels. Pairs of two labels with messages are compared one by one (case iv). For a
    label with a message the best partner without one is the first such in the order of its row or
    column (cases ii and iii). The best pair of labels without messages (case i) is found by
    descending a tree of maxima over the first pairs of the rows. Each walk ends at the first
    pair that fits, or that can no longer be the best.

    Only pairs of positive weight are held, 16 bytes each in the order of its row and in that of
    its column. Nearly all others have the weight zero, so that one of them is soon found when it
    is wanted. A step moves some pairs, and few walks follow: a row or a column is sorted anew when
    one comes by, and until then a bound of its weights stands for the first of them.

    Invariant: outside of leave() and enter(), `rows` and `columns` hold all pairs of
    positive weight; those that are not stale hold no others, by their present weights. No pair
    (a, b) has more than `tops` has for a and `column_tops` has for b, which are the first weight of
    the row and of the column, or 0, where these are not stale.

    Parameters
    ----------
    state : FactorState
        Weights and messages; its factors must have one table of weights of pairs.
    """

    cdef vector[Order] rows          # by first label
    cdef vector[Order] columns       # by second label
    cdef SumTree tops                # (n_states,) by first label
    cdef double[::1] column_tops     # (n_states,) by second label
    cdef vector[Move] moving         # until enter()
    cdef double most                 # the largest gain found so far, and its pair
    cdef int32_t found

    def __cinit__(self, FactorState state):
        if state.factors.pair_weights < 0:
            raise ValueError("the pairs of edges have no table of weights that all share")
        self.rows.resize(state.factors.n_states)
        self.columns.resize(state.factors.n_states)
        self.tops = SumTree(np.zeros(state.factors.n_states))
        self.column_tops = np.zeros(state.factors.n_states)
        self.renew()

    def renew(self):
        """Put all pairs in order anew."""
        cdef int32_t n_states = <int32_t>self.factors.n_states, a, b
        for a in range(n_states):
            self.rows[a].partners.clear()
            self.columns[a].partners.clear()
        for a in range(n_states):
            for b in range(n_states):
                if self.weight(a * n_states + b) > 0.0:
                    self.rows[a].partners.push_back(Partner(0.0, b))
                    self.columns[b].partners.push_back(Partner(0.0, a))
        for a in range(n_states):
            self.rows[a].stale = self.columns[a].stale = True
            self.sort_row(a)
            self.sort_column(a)

    cdef void sort_row(self, int32_t a) noexcept nogil:
        """Let a row be in order."""
        if self.rows[a].stale:
            self.rows[a].sort(
                &self.state.w[self.factors.pair_weights + a * self.factors.n_states], 1
            )
            self.tops.set(a, self.rows[a].top())

    cdef void sort_column(self, int32_t b) noexcept nogil:
        """Let a column be in order."""
        if self.columns[b].stale:
            self.columns[b].sort(
                &self.state.w[self.factors.pair_weights + b], self.factors.n_states
            )
            self.column_tops[b] = self.columns[b].top()

    @property
    def n_held(self):
        """Number of pairs that are held in the orders, once all are sorted."""
        cdef int32_t a
        cdef Py_ssize_t n_rows = 0, n_columns = 0
        for a in range(<int32_t>self.factors.n_states):
            self.sort_row(a)
            self.sort_column(a)
            n_rows += self.rows[a].partners.size()
            n_columns += self.columns[a].partners.size()
        assert n_rows == n_columns
        return n_rows

    cdef double weight(self, int32_t pair) noexcept nogil:
        return self.state.w[self.factors.pair_weights + pair]

    cdef int leave(self, const Mix* mix, const double* change) except -1 nogil:
        cdef Py_ssize_t k
        cdef Move move
        for k in range(mix.n):
            if change[k] != 0.0:
                move.pair, move.before = mix.state[k], self.weight(mix.state[k])
                self.moving.push_back(move)
        return 0

    cdef int enter(self) except -1 nogil:
        cdef int32_t n_states = <int32_t>self.factors.n_states, a, b
        cdef double now
        cdef size_t k
        cdef Move* move
        for k in range(self.moving.size()):
            move = self.moving.data() + k
            a, b = move.pair // n_states, move.pair % n_states
            now = self.weight(move.pair)
            if not (now > 0.0 or move.before > 0.0):
                continue
            self.rows[a].stale = self.columns[b].stale = True
            if not move.before > 0.0:
                self.rows[a].hold(b)
                self.columns[b].hold(a)
            if now > self.tops.largest[self.tops.n_leaves + a]:
                self.tops.set(a, now)
            if now > self.column_tops[b]:
                self.column_tops[b] = now
        self.moving.clear()
        return 0

    cdef int32_t best(self, Py_ssize_t i, Py_ssize_t e) except -1 nogil:
        cdef const Message* first = &self.state.messages[2 * e]
        cdef const Message* second = &self.state.messages[2 * e + 1]
        cdef const Mix* mix = &self.state.edges[e]
        cdef int32_t n_states = <int32_t>self.factors.n_states, a, b
        cdef Py_ssize_t k, m
        cdef double bound, row_top
        self.most, self.found = -INFINITY, 0
        # seldom is another pair better than all that have weight: most bounds below fall short
        for k in range(mix.n):
            a, b = mix.state[k] // n_states, mix.state[k] % n_states
            self.offer(self.weight(mix.state[k]) - self.first[a] - self.second[b], mix.state[k])
        for k in range(first.n):
            a = first.label[k]
            row_top = self.tops.largest[self.tops.n_leaves + a]
            for m in range(second.n):
                b = second.label[m]
                # of the pair, whose weight is somewhere in a large table
                bound = min(row_top, self.column_tops[b]) - self.first[a]
                if bound - self.second[b] > self.most:
                    self.offer(
                        self.weight(a * n_states + b) - self.first[a] - self.second[b],
                        a * n_states + b,
                    )
        for k in range(first.n):
            a = first.label[k]
            row_top = self.tops.largest[self.tops.n_leaves + a]
            if self.first[a] != 0.0 and row_top - self.first[a] > self.most:
                self.walk_row(a, -self.first[a])
        for m in range(second.n):
            b = second.label[m]
            if self.second[b] != 0.0 and self.column_tops[b] - self.second[b] > self.most:
                self.walk_column(b, -self.second[b])
        self.walk_table()
        return self.found

    cdef void offer(self, double gain, int32_t pair) noexcept nogil:
        self.n_looks += 1
        if gain > self.most:
            self.most = gain
            self.found = pair

    cdef void walk_row(self, int32_t a, double base) noexcept nogil:
        """Offer the first pair of a row whose second label has no message.

        It gains `base` besides its weight.
        """
        cdef Partner item
        cdef size_t k
        self.sort_row(a)
        for k in range(self.rows[a].partners.size()):
            item = self.rows[a].partners.data()[k]
            if base + item.weight <= self.most:
                return
            self.n_looks += 1
            if self.second[item.label] == 0.0:
                self.offer(base + item.weight, a * <int32_t>self.factors.n_states + item.label)
                return
        if self.first[a] != 0.0:
            self.offer_unheld(base, a, -1)

    cdef void walk_column(self, int32_t b, double base) noexcept nogil:
        """Offer the first pair of a column whose first label has no message, likewise."""
        cdef Partner item
        cdef size_t k
        self.sort_column(b)
        for k in range(self.columns[b].partners.size()):
            item = self.columns[b].partners.data()[k]
            if base + item.weight <= self.most:
                return
            self.n_looks += 1
            if self.first[item.label] == 0.0:
                self.offer(base + item.weight, item.label * <int32_t>self.factors.n_states + b)
                return
        self.offer_unheld(base, -1, b)

    cdef void walk_table(self) noexcept nogil:
        """Offer the first pair of all whose labels have no messages."""
        # nodes of the tree that are still to be seen: at most two for each of its levels
        cdef Py_ssize_t waiting[64]
        cdef Py_ssize_t n = 1, node, child
        waiting[0] = 1
        while n > 0:
            n -= 1
            node = waiting[n]
            # what is left of the tree has no pair of positive weight, or no better one
            if self.tops.largest[node] <= max(self.most, 0.0):
                continue
            self.n_looks += 1
            if node >= self.tops.n_leaves:
                node -= self.tops.n_leaves
                if self.first[node] == 0.0:
                    self.walk_row(<int32_t>node, 0.0)
                continue
            # the larger child first
            child = 2 * node + (self.tops.largest[2 * node] < self.tops.largest[2 * node + 1])
            waiting[n] = child ^ 1
            waiting[n + 1] = child
            n += 2
        self.offer_unheld(0.0, -1, -1)

    cdef void offer_unheld(self, double base, int32_t a, int32_t b) noexcept nogil:
        """Offer the best pair that is not held and has no messages but those of a and b.

        -1 stands for any label without a message.
        """
        cdef int32_t n_states = <int32_t>self.factors.n_states, x, y
        cdef int32_t first = max(a, 0), last = a if a >= 0 else n_states - 1
        cdef int32_t left = max(b, 0), right = b if b >= 0 else n_states - 1
        cdef double weight
        if base <= self.most:
            return
        for x in range(first, last + 1):
            if x != a and self.first[x] != 0.0:
                continue
            for y in range(left, right + 1):
                if y != b and self.second[y] != 0.0:
                    continue
                weight = self.weight(x * n_states + y)
                if weight <= 0.0:
                    self.offer(base + weight, x * n_states + y)
                    if weight == 0.0:
                        return
