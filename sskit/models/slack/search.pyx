"""Searches for the maximum of loss times margin (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy

from sskit.core.vectors cimport Scratch

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

# Numbers that are closer than this, relatively, are equal: rounding.
cdef double ROUNDING = 1e-12
# Slopes that are closer than this, relatively, are equal, and an interval of lam between such is
# empty.
cdef double EQUAL = 1e-9
# While an end of the interval is not known, lam moves by this factor ..
cdef double STRIDE = 8.0
# .. and no further than from one of these to the other.
cdef double LEAST = 1e-15
cdef double MOST = 1e15


cdef class SlackSearch:
    """Base of the searches.

    Parameters
    ----------
    problem : Problem
        Its oracles are asked.
    tol : float
        A label is good enough if no other one can be better by a larger share.
    max_queries : int
        Largest number of questions of a search.
    """

    def __cinit__(self, Problem problem, double tol, Py_ssize_t max_queries):
        self.problem = problem
        self.oracle = problem.slack_oracle()
        self.tol = tol
        self.max_queries = max_queries
        self.exact, self.lock_free = False, problem.lock_free
        self.bounds = problem.exact or problem.bounds
        self.counts = np.zeros(2, dtype=np.int64)
        self.code = np.zeros(max(problem.max_code_length, 1), dtype=np.int32)
        self.best_code = np.zeros(max(problem.max_code_length, 1), dtype=np.int32)
        self.index = np.zeros(max(problem.max_support, 1), dtype=np.int32)
        self.value = np.zeros(max(problem.max_support, 1))

    # an oracle that not every problem has
    cdef int need(self, bint able) except -1:
        if not able:
            raise ValueError(f"{self.problem.name} has no oracle for this search")
        self.lock_free = self.problem.lock_free and self.oracle.lock_free
        return 0

    def fork(self, Problem problem):
        """Return the same search with scratch memory of its own, for a fork of the problem."""
        return type(self)(problem, self.tol, self.max_queries)

    cdef int find(
        self, Py_ssize_t i, const double* theta, double offset, const int32_t* known,
        double known_loss, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t size = self.problem.code_length(i) * sizeof(int32_t)
        self.i, self.theta, self.offset = i, theta, offset
        self.n_asked = 0
        self.best = self.best_h = self.best_g = 0.0
        self.bound = INFINITY
        self.problem.truth(i, &self.best_code[0])
        self.problem.plane_store.keep(i, &self.best_code[0])
        if known_loss > 0.0:
            memcpy(&self.code[0], known, size)
            self.meet(known_loss)
        self.search()
        self.counts[0] += 1
        self.counts[1] += self.n_asked
        memcpy(code, &self.best_code[0], size)
        loss[0] = self.best_g
        return 0

    cdef int search(self) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement search")

    cdef int ask(self, double lam) except -1 nogil:
        cdef double loss, value
        self.n_asked += 1
        self.problem.argmax(self.i, self.theta, lam, &self.code[0], &loss)
        self.meet(loss)
        value = max(self.h + lam * self.g + self.problem.excess, 0.0)
        self.bound = max(min(self.bound, value * value / (4.0 * lam)), self.best)
        return 0

    cdef int meet(self, double loss) except -1 nogil:
        cdef Py_ssize_t e, n = self.problem.plane(
            self.i, &self.code[0], &self.index[0], &self.value[0]
        )
        self.g = loss
        self.h = self.offset
        for e in range(n):
            self.h -= self.value[e] * self.theta[self.index[e]]
        if self.h > 0.0 and self.h * self.g > self.best:
            self.problem.plane_store.keep(self.i, &self.code[0])
            self.problem.plane_store.forget(self.i, &self.best_code[0])
            self.best, self.best_h, self.best_g = self.h * self.g, self.h, self.g
            memcpy(
                &self.best_code[0], &self.code[0],
                self.problem.code_length(self.i) * sizeof(int32_t)
            )
        return 0

    cdef bint done(self) noexcept nogil:
        return (
            self.bound <= (1.0 + self.tol + ROUNDING) * self.best
            or self.bound == 0.0
            or self.n_asked >= self.max_queries
        )

    cdef double first_weight(self) noexcept nogil:
        return self.best_h / self.best_g if self.best > 0.0 else 1.0


cdef class ExactSearch(SlackSearch):
    """No search: the problem has an oracle for the product itself.

    Parameters
    ----------
    problem : Problem
        Its slack oracle has ``argmax_slack``.
    tol : float
        Not needed.
    max_queries : int
        Not needed: one is enough.
    """

    def __cinit__(self, Problem problem, double tol, Py_ssize_t max_queries):
        # an oracle for the product that misses the maximum says nothing of what it missed
        self.exact, self.bounds = problem.exact, False
        self.need(self.oracle is not None and self.oracle.has_product)

    cdef int search(self) except -1 nogil:
        cdef double loss
        self.n_asked = 1
        self.oracle.argmax_slack(self.i, self.theta, self.offset, &self.code[0], &loss)
        self.meet(loss)
        self.bound = self.best
        return 0


cdef struct Cone:
    # the labels with lower <= g / h < upper; no product of theirs is above `bound`
    double lower
    double upper
    double bound


cdef class AngularSearch(SlackSearch):
    """Splits the quadrant of labels that count into cones, by their slopes g / h (algorithm 2).

    The constrained oracle finds the best label of a cone at lam. Better ones of this cone lie
    below its line and above the hyperbola of the best label known: in the two cones between the
    ray of slope 1 / lam, where the line reaches its largest product, and the rays through the
    crossings. The cone with the largest bound comes next; as long as no label with the same
    slope is found twice there are at most 2 M + 1 queries for M labels (theorem 2).

    Parameters
    ----------
    problem : Problem
        Its slack oracle has ``argmax_within``.
    tol : float
        The answer is proven to be good up to this share; 0 makes the search exact.
    max_queries : int
        As of `SlackSearch`.
    """

    cdef Scratch[Cone] cones

    def __cinit__(self, Problem problem, double tol, Py_ssize_t max_queries):
        self.need(self.oracle is not None and self.oracle.has_cone)
        # the constrained oracle does not say how much it misses, so its cones bound nothing then
        self.exact = problem.exact and tol == 0.0 and max_queries == PY_SSIZE_T_MAX
        self.bounds = problem.exact and not self.exact

    cdef int search(self) except -1 nogil:
        cdef double lam = self.first_weight()
        cdef Cone cone
        cone.lower, cone.upper, cone.bound = 0.0, INFINITY, INFINITY
        self.cones.resize(0)
        while True:
            self.split(cone, lam)
            self.bound = self.best
            if self.cones.size() == 0:
                return 0
            cone = self.pop()
            self.bound = max(self.best, cone.bound)
            if self.done():
                return 0
            lam = 1.0 / (sqrt(cone.lower) * sqrt(cone.upper))

    # ask about a cone, and replace it by the parts of it where better labels may be
    cdef int split(self, Cone cone, double lam) except -1 nogil:
        cdef double loss, value, root, bound, middle = 1.0 / lam, steep, flat
        self.n_asked += 1
        if not self.oracle.argmax_within(
            self.i, self.theta, self.offset, lam, cone.lower, cone.upper, &self.code[0], &loss
        ):
            return 0
        self.meet(loss)
        value = self.h + lam * self.g
        bound = min(cone.bound, value * value / (4.0 * lam))
        if not value * value > 4.0 * lam * self.best * (1.0 + ROUNDING):
            return 0
        if self.best == 0.0:
            return 0    # what was found lies on an axis, but for rounding
        root = sqrt(value * value - 4.0 * lam * self.best)
        # Slopes at the crossings; the flat one is the inverse of the steep one in units of 1 / lam.
        # value - root would be nothing but rounding where lam is far off.
        steep = middle * (value + root) / (4.0 * lam * self.best) * (value + root)
        flat = middle * (middle / steep)
        # a label on a border has been found, and is left out
        self.push(middle, min(steep * (1.0 - EQUAL), cone.upper), bound)
        self.push(max(flat * (1.0 + EQUAL), cone.lower), middle, bound)
        return 0

    cdef int push(self, double lower, double upper, double bound) except -1 nogil:
        cdef Cone cone
        if lower * (1.0 + EQUAL) < upper:
            cone.lower, cone.upper, cone.bound = lower, upper, bound
            self.cones.push(cone)
        return 0

    # take out the cone with the largest bound: there are few
    cdef Cone pop(self) noexcept nogil:
        cdef Cone cone
        cdef Py_ssize_t k, top = 0
        for k in range(1, self.cones.size()):
            if self.cones[k].bound > self.cones[top].bound:
                top = k
        cone, self.cones[top] = self.cones[top], self.cones[self.cones.size() - 1]
        self.cones.pop_back()
        return cone


cdef class BisectingSearch(SlackSearch):
    """Minimises the bound U(lam) = K(lam)^2 / (4 lam), which is convex (their lemma 1).

    The sign of its slope, that of lam g - h at the label found, says where to go on. The losses
    and margins that a better label can have are bisected together with lam (their 4.3): better
    labels lie below the line h + lam g = K of a query and above the hyperbola of the best label,
    which cross at two points, and h and g of better labels lie between theirs. The search ends
    when the labels at both ends of the interval are the only ones that the lambda-oracle can
    still give, or when the bound proves that nothing better exists (their appendix D).

    Parameters
    ----------
    problem : Problem
        Its oracle is asked.
    tol : float
        As of `SlackSearch`.
    max_queries : int
        As of `SlackSearch`.
    """

    # that better labels can have
    cdef double least_h
    cdef double most_h
    cdef double least_g
    cdef double most_g

    cdef int search(self) except -1 nogil:
        cdef double low = 0.0, high = INFINITY, lam = self.first_weight()
        cdef double low_h = 0.0, low_g = -1.0, high_h = 0.0, high_g = -1.0
        cdef double least, most
        cdef bint again, hull = False
        self.least_h = self.least_g = 0.0
        self.most_h = self.most_g = INFINITY
        while True:
            self.ask(lam)
            if self.done():
                return 0
            again = (self.h == low_h and self.g == low_g) or (
                self.h == high_h and self.g == high_g
            )
            if again and hull:
                return 0    # no label lies above the line through the two
            if lam * self.g < self.h:
                low, low_h, low_g = lam, self.h, self.g
            else:
                high, high_h, high_g = lam, self.h, self.g
            if low_h == high_h and low_g == high_g:
                return 0
            least, most = low, high
            if self.narrow(lam, &least, &most) or not least < most * (1.0 - EQUAL):
                return 0
            hull = again and low_g >= 0.0 and high_g >= 0.0
            if hull:
                lam = (low_h - high_h) / (high_g - low_g)
                if not low < lam < high:
                    return 0    # the two are equally good at an end of the interval
            elif again and self.h > 0.0 < self.g and low < self.h / self.g < high:
                lam = self.h / self.g    # if it is the answer there too, it is proven best
            elif most == INFINITY:
                lam = least * STRIDE
            elif least == 0.0:
                lam = most / STRIDE
            else:
                lam = sqrt(least) * sqrt(most)
            if not LEAST < lam < MOST:
                return 0

    # fewer lam to go on from, from what the query at lam told; returns whether none is left
    cdef bint narrow(self, double lam, double* low, double* high) noexcept nogil:
        cdef double value = self.h + lam * self.g, root, least, most
        root = sqrt(max(value * value - 4.0 * lam * self.best, 0.0))
        self.least_h = max(self.least_h, 0.5 * (value - root))
        self.most_h = min(self.most_h, 0.5 * (value + root))
        self.least_g = max(self.least_g, 0.5 * (value - root) / lam)
        self.most_g = min(self.most_g, 0.5 * (value + root) / lam)
        if self.least_h > self.most_h or self.least_g > self.most_g:
            return True
        # U is least at h / g of the label that it bounds best: look there if that is possible
        least, most = self.least_h / self.most_g, INFINITY
        if self.least_g > 0.0:
            most = self.most_h / self.least_g
        if max(least, low[0]) < min(most, high[0]) * (1.0 - EQUAL):
            low[0], high[0] = max(least, low[0]), min(most, high[0])
        return False
