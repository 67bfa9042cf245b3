"""Factorwise maximisation oracles in sublinear time (section 3.2 of Yen et al. 2016)."""

from cython.operator cimport dereference, preincrement
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.pair cimport pair as couple

from sskit.solvers._factor_search cimport EdgeSearch
from sskit.solvers._factor_state cimport FactorState
from sskit.solvers._mix cimport Message, Mix


cdef class OrderedSearch(EdgeSearch):
    """The best pair of an edge from ordered weights: appendix C-1, four cases.

    A pair gains its weight less what the messages of its two labels count. Messages are zero but
    on a few labels. Pairs of two labels with messages are compared one by one (case iv). For a
    label with a message the best partner without one is the first such in the order of its row or
    column (cases ii and iii), and the best pair of labels without messages is the first such
    in the order of the whole table (case i). Each walk ends at the first pair that fits, or
    that can no longer be the best.

    Most of a table of many labels is zero: only other pairs are held, in three orders of about
    64 bytes each, and any pair that is not held stands for all of weight zero.

    Parameters
    ----------
    state : FactorState
        Weights and messages; its factors must have one table of weights of pairs.
    """

    def __init__(self, FactorState state):
        super().__init__(state)
        self.rows.resize(state.factors.n_states)
        self.columns.resize(state.factors.n_states)
        self.renew()

    def renew(self):
        """Order all pairs anew: their weights have moved."""
        cdef int32_t a
        cdef Py_ssize_t pair, n_states = self.factors.n_states
        self.whole.clear()
        for a in range(n_states):
            self.rows[a].clear()
            self.columns[a].clear()
        with nogil:
            for pair in range(n_states * n_states):
                if self.weight(<int32_t>pair) != 0.0:
                    self.insert(<int32_t>pair)

    @property
    def n_held(self):
        """Number of pairs that are held in the orders."""
        return self.whole.size()

    cdef double weight(self, int32_t pair) noexcept nogil:
        return self.state.w[self.factors.pair_weights + pair]

    cdef int insert(self, int32_t pair) except -1 nogil:
        cdef int32_t n_states = <int32_t>self.factors.n_states
        cdef couple[double, int32_t] item = couple[double, int32_t](-self.weight(pair), pair)
        self.whole.insert(item)
        self.rows[pair // n_states].insert(item)
        self.columns[pair % n_states].insert(item)
        return 0

    cdef int leave(self, const Mix* mix, const double* change) except -1 nogil:
        cdef int32_t n_states = <int32_t>self.factors.n_states, pair
        cdef couple[double, int32_t] item
        cdef Py_ssize_t k
        self.moving.clear()
        for k in range(mix.n):
            if change[k] == 0.0:
                continue
            pair = mix.state[k]
            self.moving.push_back(pair)
            if self.weight(pair) != 0.0:
                item = couple[double, int32_t](-self.weight(pair), pair)
                self.whole.erase(item)
                self.rows[pair // n_states].erase(item)
                self.columns[pair % n_states].erase(item)
        return 0

    cdef int enter(self) except -1 nogil:
        cdef size_t k
        for k in range(self.moving.size()):
            if self.weight(self.moving[k]) != 0.0:
                self.insert(self.moving[k])
        return 0

    cdef int32_t best(self, Py_ssize_t i, Py_ssize_t e) except -1 nogil:
        cdef const Message* first = &self.state.messages[2 * e]
        cdef const Message* second = &self.state.messages[2 * e + 1]
        cdef int32_t n_states = <int32_t>self.factors.n_states, a, b
        cdef Py_ssize_t k, m
        self.spread(i, e, 1.0)
        self.most, self.found = -INFINITY, 0
        for k in range(first.n):
            a = first.label[k]
            for m in range(second.n):
                b = second.label[m]
                self.offer(
                    self.weight(a * n_states + b) - self.first[a] - self.second[b],
                    a * n_states + b,
                )
        for k in range(first.n):
            a = first.label[k]
            if self.first[a] != 0.0:
                self.walk(&self.rows[a], -self.first[a], a, -1)
        for m in range(second.n):
            b = second.label[m]
            if self.second[b] != 0.0:
                self.walk(&self.columns[b], -self.second[b], -1, b)
        self.walk(&self.whole, 0.0, -1, -1)
        self.spread(i, e, 0.0)
        return self.found

    cdef void offer(self, double gain, int32_t pair) noexcept nogil:
        self.n_looks += 1
        if gain > self.most:
            self.most = gain
            self.found = pair

    cdef void walk(self, const Order* order, double base, int32_t a, int32_t b) noexcept nogil:
        cdef int32_t n_states = <int32_t>self.factors.n_states, pair, x, y
        cdef double weight
        cdef bint unheld_too = True
        cdef Order.const_iterator place = order.const_begin()
        while place != order.const_end():
            weight = -dereference(place).first
            if weight < 0.0 and unheld_too:
                unheld_too = False
                if self.offer_unheld(base, a, b):
                    return
            if base + weight <= self.most:
                return
            pair = dereference(place).second
            x, y = pair // n_states, pair % n_states
            self.n_looks += 1
            if (x == a or self.first[x] == 0.0) and (y == b or self.second[y] == 0.0):
                self.offer(base + weight, pair)
                return
            preincrement(place)
        if unheld_too:
            self.offer_unheld(base, a, b)

    cdef bint offer_unheld(self, double base, int32_t a, int32_t b) noexcept nogil:
        cdef int32_t pair
        if base <= self.most:
            return False
        pair = self.unheld(a, b)
        if pair >= 0:
            self.offer(base, pair)
        return pair >= 0

    cdef int32_t unheld(self, int32_t a, int32_t b) noexcept nogil:
        cdef int32_t n_states = <int32_t>self.factors.n_states, x, y
        cdef int32_t first = max(a, 0), last = a if a >= 0 else n_states - 1
        cdef int32_t left = max(b, 0), right = b if b >= 0 else n_states - 1
        if self.whole.size() == <size_t>n_states * n_states:
            return -1
        for x in range(first, last + 1):
            if x != a and self.first[x] != 0.0:
                continue
            for y in range(left, right + 1):
                self.n_looks += 1
                if (y == b or self.second[y] == 0.0) and self.weight(x * n_states + y) == 0.0:
                    return x * n_states + y
        return -1
