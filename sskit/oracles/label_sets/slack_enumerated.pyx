"""Slack rescaling of label sets that can all be tried."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.oracles.label_sets.oracle cimport ONE, write_pairs
from sskit.oracles.label_sets.exact cimport EnumeratedSets
from sskit.oracles.label_sets.slack cimport SetQuestion, SlackSets


cdef class Goal:
    """What is maximised over the sets that count; it knows the best value so far."""

    cdef double lam               # h + lam g is what `reach` is told a bound on
    cdef double lower             # only sets with lower h <= g < upper h
    cdef double upper
    cdef double best
    cdef unsigned int best_set

    # become the best if that is better
    cdef void meet(self, double h, double g, unsigned int chosen) noexcept nogil:
        pass

    # bound on the value of sets, from bounds on their h, g and h + lam g
    cdef double reach(self, double h, double g, double total) noexcept nogil:
        return INFINITY


cdef class Product(Goal):
    """g h."""

    cdef void meet(self, double h, double g, unsigned int chosen) noexcept nogil:
        if g * h > self.best:
            self.best, self.best_set = g * h, chosen
            self.lam = h / g      # where the bound on products by sums is tight for this set

    cdef double reach(self, double h, double g, double total) noexcept nogil:
        return min(h * g, total * total / (4.0 * self.lam))


cdef class Sum(Goal):
    """h + lam g."""

    cdef void meet(self, double h, double g, unsigned int chosen) noexcept nogil:
        if h + self.lam * g > self.best:
            self.best, self.best_set = h + self.lam * g, chosen

    cdef double reach(self, double h, double g, double total) noexcept nogil:
        return total


cdef class EnumeratedSlack(SlackSets):
    """The best of all sets of up to 20 labels, by depth-first search.

    As `EnumeratedSets`; a branch is left where its bounds on h, g and a sum of both show that no
    set there is better than the best one so far, or none that counts.
    """

    cdef EnumeratedSets sets      # scores of the labels on the way
    cdef Goal product
    cdef Goal total
    cdef const SetQuestion* q

    def __cinit__(self):
        self.has_product = self.has_cone = self.lock_free = True
        self.sets = EnumeratedSets()
        self.product, self.total = Product(), Sum()

    cdef bint best_product(self, const SetQuestion* q, int32_t* code) except -1 nogil:
        self.product.lam, self.product.lower, self.product.upper = 1.0, 0.0, INFINITY
        self.product.best = 0.0
        return self.find(q, self.product, code)

    cdef bint best_within(
        self, const SetQuestion* q, double loss_weight, double lower, double upper, int32_t* code
    ) except -1 nogil:
        self.total.lam, self.total.lower, self.total.upper = loss_weight, lower, upper
        self.total.best = 0.0     # sets that count have more
        return self.find(q, self.total, code)

    cdef bint find(self, const SetQuestion* q, Goal goal, int32_t* code) except -1 nogil:
        cdef Py_ssize_t k, n_labels = q.n_labels
        self.sets.check(n_labels)
        self.q = q
        self.sets.load(n_labels, q.label, q.n_edges, q.ends, q.pair)
        self.search(goal, n_labels, q.offset, 0.0, 0)
        if goal.best > 0.0:
            for k in range(n_labels):
                code[k] = ONE if goal.best_set >> k & 1 else 0
            write_pairs(n_labels, q.n_edges, q.ends, code)
        return goal.best > 0.0

    # decide the labels before k; the others have been, and have the margin h and the loss g
    cdef void search(
        self, Goal goal, Py_ssize_t k, double h, double g, unsigned int chosen
    ) noexcept nogil:
        cdef Py_ssize_t j, _j
        cdef const double* gain = &self.sets.gain[k, 0]
        cdef double* after
        cdef double most_h = h, most_g = g, most = h + goal.lam * g, more
        cdef bint has
        if k == 0:
            if h > 0.0 < g and goal.lower * h <= g < goal.upper * h:
                goal.meet(h, g, chosen)
            return
        for j in range(k):
            more = gain[j] + self.sets.positive[j]
            most_h += max(more, 0.0)
            most_g += self.q.cost[j]
            # with the label, without it
            if self.q.truth[j]:
                most += max(more, goal.lam * self.q.cost[j])
            else:
                most += max(more + goal.lam * self.q.cost[j], 0.0)
        if (
            most_h <= 0.0 or most_g <= 0.0 or g >= goal.upper * most_h or most <= 0.0
            or goal.reach(most_h, most_g, most) <= goal.best
        ):
            return
        k -= 1
        after = &self.sets.gain[k, 0]
        # first the choice that promises more: good sets early let more branches be left
        has = gain[k] + goal.lam * self.q.cost[k] * (1 - 2 * self.q.truth[k]) > 0.0
        for _j in range(2):
            more = self.q.cost[k] if has != self.q.truth[k] else 0.0
            if has:
                self.sets.take(k, gain, after)
                self.search(goal, k, h + gain[k], g + more, chosen | (<unsigned int>1 << k))
            else:
                memcpy(after, gain, k * sizeof(double))
                self.search(goal, k, h, g + more, chosen)
            has = not has

    cpdef SlackSets fork(self):
        return EnumeratedSlack()
