"""Angular search (Choi, Meshi, Srebro 2016, algorithm 2)."""

from libc.math cimport INFINITY, sqrt

from sskit.core.problem cimport Problem
from sskit.core.vectors cimport Scratch
from sskit.models.slack.search cimport SlackSearch, check_oracle

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

# Slopes that are closer than this, relatively, are equal.
cdef double EQUAL = 1e-9


cdef struct Cone:
    # the labels with lower <= g / h < upper; no product of theirs is above `bound`
    double lower
    double upper
    double bound


cdef class AngularSearch(SlackSearch):
    """Splits the quadrant of labels that count into cones, by their slopes g / h.

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
        check_oracle(self.oracle is not None and self.oracle.has_cone, problem)
        self.lock_free = problem.lock_free and self.oracle.lock_free
        # the constrained oracle does not say how much it misses, so its cones bound nothing then
        proves = problem.exact and self.oracle.precision == 0.0
        self.exact = proves and tol == 0.0 and max_queries == PY_SSIZE_T_MAX
        self.bounds = proves and not self.exact

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
        if not value * value > 4.0 * lam * self.best * (1.0 + self.rounding):
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
