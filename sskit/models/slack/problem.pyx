"""The training problem under slack rescaling."""

import sys

import numpy as np

from sskit.core.fingerprint import Fingerprint

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from libcpp.utility cimport pair

from sskit.core.problem cimport Problem, SlackGoal
from sskit.core.vectors cimport priority_queue
from sskit.models.structure cimport StructuredProblem

# Numbers with a smaller relative difference count as equal: it is rounding.
cdef double ROUNDING = 1e-12
# Slopes with a smaller relative difference count as equal, and an interval of lam between them as
# empty.
cdef double EQUAL = 1e-9
# While an end of the interval is unknown, lam changes by this factor ..
cdef double STRIDE = 8.0
# .. and no further than from one of these to the other.
cdef double LEAST = 1e-15
cdef double MOST = 1e15

SEARCHES = ("exact", "angular", "bisecting")
cdef enum:
    EXACT
    ANGULAR

# A cone: the labels with lower <= g / h < upper, and an upper bound of their products g h. The
# queue returns the largest bound first.
ctypedef pair[double, pair[double, double]] Cone

cdef Py_ssize_t BITS = sizeof(double) // sizeof(int32_t)   # code of a loss


cdef class SlackProblem(StructuredProblem):
    """A problem under slack rescaling: block i has max_y L_i(y) (1 - <w, psi_i(y)>).

    The plane of a labelling with psi and loss L under margin rescaling is (L psi, L) here, so
    argmax maximises L (loss_weight - <psi, theta>). Its code is that of the labelling and the
    bits of L; the truth, and any labelling without loss, has the plane (0, 0).

    Argmax is a search for a label y that maximises Phi(y) = g(y) h(y), g(y) = L_i(y), h(y) =
    offset - <psi_i(y), theta>; only labels with g, h > 0 count, the truth, with Phi = 0, is the
    answer if there is none. A label is the point (h, g) of a plane. The lambda-oracle is argmax
    under margin rescaling with the loss weight lam: it maximises K = h + lam g over all labels.
    The searches are those of Choi, Meshi, Srebro (2016), 4.1 to 4.3 and algorithm 2.
    For labels that count g h <= (h + lam g)^2 / (4 lam), so every query bounds Phi from above:
    with the largest K, or, where argmax misses it and bounds it, with that upper bound of K.

    The last answer of argmax for a block is held, and its next search begins there; forks share
    these answers and their memory. If a search may miss the maximum, `excess` is the difference of
    its upper bound and its answer.

    Invariants during a search: `best` = best_g * best_h is Phi of best_code, which the plane
    store keeps (once for us); best <= max Phi <= bound.

    Parameters
    ----------
    map, structure, loss, block_weight : object
        Of the same under margin rescaling.
    name : {"exact", "angular", "bisecting"}
        The search that finds the answers of argmax; all but the last need candidates.
    tol : float
        A search ends if no label can be better than its answer by a larger fraction; with 0 the
        search by angles is exact. No effect on the exact search.
    max_queries : int
        Largest number of queries of a search.
    other : SlackProblem, default=None
        The problem of which this is a fork: both have the same last answers.
    """

    cdef readonly tuple settings          # name, tol and max_queries of the search
    cdef int search
    cdef double tol                       # stop where bound <= (1 + tol) best, but for rounding
    cdef Py_ssize_t max_queries           # of one search
    cdef readonly int64_t[::1] counter    # (1,) queries of all searches, those of forks too
    cdef list counters                    # those of all forks
    cdef public int32_t[::1] last_answers  # codes of the last answers, block after block
    cdef const int64_t[::1] places        # (n_blocks + 1,) where they begin
    # the search that is going on
    cdef Py_ssize_t i
    cdef const double* theta
    cdef double offset
    cdef Py_ssize_t n_search_queries
    cdef readonly double best, bound
    cdef double best_h, best_g
    cdef double h                         # of the last label found, in `code`
    cdef double g
    cdef priority_queue[Cone] cones
    cdef int32_t[::1] code, best_code
    cdef int32_t[::1] index               # scratch for planes
    cdef double[::1] value

    def __cinit__(self, map, structure, loss, block_weight, str name, double tol,
                  Py_ssize_t max_queries, SlackProblem other=None):
        cdef Py_ssize_t i, length = max(self.max_code_length, 1)
        self.n_candidates()
        self.settings = name, tol, max_queries
        self.search, self.tol, self.max_queries = SEARCHES.index(name), tol, max_queries
        whole = name == "exact" or name == "angular" and tol == 0.0 and max_queries == sys.maxsize
        self.exact = structure.exact and whole
        # oracles with candidates do not bound what they miss
        bounded = structure.exact or name == "bisecting" and structure.bounds
        self.bounds = bounded and name != "exact" and not whole
        self.takes_turns = False    # a search calls the oracle again and again
        self.code, self.best_code = np.zeros((2, length), dtype=np.int32)
        self.index = np.zeros(max(self.max_support, 1), dtype=np.int32)
        self.value = np.zeros(max(self.max_support, 1))
        self.max_code_length += BITS
        self.counter = np.zeros(1, dtype=np.int64)
        if other is not None:
            self.places, self.last_answers = other.places, other.last_answers
            self.counters = other.counters
            self.counters.append(self.counter)
            return
        self.counters = [self.counter]
        sizes = [self.code_length(i) for i in range(self.n_blocks)]
        self.places = np.cumsum([0, *sizes], dtype=np.int64)
        self.last_answers = np.zeros(self.places[self.n_blocks], dtype=np.int32)
        for i in range(self.n_blocks):
            self.truth(i, &self.last_answers[self.places[i]])

    # h of the label in `code`, with the loss g; it becomes the best if it is better
    cdef int update_best(self) except -1 nogil:
        cdef Py_ssize_t e, n = StructuredProblem.plane(
            self, self.i, &self.code[0], &self.index[0], &self.value[0]
        )
        self.h = self.offset
        for e in range(n):
            self.h -= self.value[e] * self.theta[self.index[e]]
        if self.h > 0.0 and self.h * self.g > self.best:
            self.plane_store.keep(self.i, &self.code[0])
            self.plane_store.forget(self.i, &self.best_code[0])
            self.best, self.best_h, self.best_g = self.h * self.g, self.h, self.g
            memcpy(
                &self.best_code[0], &self.code[0],
                (self.code_length(self.i) - BITS) * sizeof(int32_t)
            )
        return 0

    # has the search reached its tolerance or its last query?
    cdef bint done(self) noexcept nogil:
        return (
            self.bound <= (1.0 + self.tol + ROUNDING) * self.best
            or self.bound == 0.0
            or self.n_search_queries >= self.max_queries
        )

    # the first lam: h / g of the held answer, unless there is none or its h is a rounding error,
    # for which bounds would be useless; then 1
    cdef double first_weight(self) noexcept nogil:
        if self.best > 0.0 and self.best_h > ROUNDING * self.offset:
            return self.best_h / self.best_g
        return 1.0

    # no search: the problem has candidates for the largest product
    cdef int take_best(self) except -1 nogil:
        cdef SlackGoal goal = SlackGoal(True, self.offset, 1.0, 0.0, INFINITY)
        self.n_search_queries = 1
        self.choose(self.i, self.theta, &goal, &self.code[0], &self.g)
        self.update_best()
        self.bound = self.best
        return 0

    # Splits the quadrant of labels that count into cones, by their slopes g / h (algorithm 2).
    #
    # The constrained oracle finds the best label of a cone at lam. Better ones of this cone lie
    # below its line and above the hyperbola of the best label known: in the two cones between the
    # ray of slope 1 / lam, where the line reaches its largest product, and the rays through the
    # crossings. The cone with the largest bound comes next; as long as no label with the same
    # slope is found twice there are at most 2 M + 1 queries for M labels (theorem 2).
    cdef int split_cones(self) except -1 nogil:
        cdef double lam = self.first_weight(), lower = 0.0, upper = INFINITY
        while not self.cones.empty():
            self.cones.pop()
        while True:
            self.split(lower, upper, self.bound, lam)
            self.bound = self.best
            if self.cones.empty():
                return 0
            self.bound = max(self.best, self.cones.top().first)
            if self.done():
                return 0
            lower, upper = self.cones.top().second.first, self.cones.top().second.second
            self.cones.pop()
            lam = 1.0 / (sqrt(lower) * sqrt(upper))

    # search a cone, and replace it by the parts of it where better labels may be
    cdef int split(self, double lower, double upper, double bound, double lam) except -1 nogil:
        cdef SlackGoal goal = SlackGoal(False, self.offset, lam, lower, upper)
        cdef double value, root, middle = 1.0 / lam, steep, flat
        self.n_search_queries += 1
        if not self.choose(self.i, self.theta, &goal, &self.code[0], &self.g):
            return 0
        self.update_best()
        value = self.h + lam * self.g
        bound = min(bound, value * value / (4.0 * lam))
        if not value * value > 4.0 * lam * self.best * (1.0 + ROUNDING):
            return 0
        if self.best == 0.0:
            return 0    # up to rounding the label found lies on an axis
        root = sqrt(value * value - 4.0 * lam * self.best)
        # Slopes at the crossings; the flat one is the inverse of the steep one in units of 1 / lam.
        # value - root would be nothing but rounding where lam is far off.
        steep = middle * (value + root) / (4.0 * lam * self.best) * (value + root)
        flat = middle * (middle / steep)
        # a label on a border has been found, and is left out
        self.push(middle, min(steep * (1.0 - EQUAL), upper), bound)
        self.push(max(flat * (1.0 + EQUAL), lower), middle, bound)
        return 0

    cdef int push(self, double lower, double upper, double bound) except -1 nogil:
        if lower * (1.0 + EQUAL) < upper:
            self.cones.push(Cone(bound, pair[double, double](lower, upper)))
        return 0

    # Minimises the bound U(lam) = K(lam)^2 / (4 lam), which is convex (their lemma 1).
    #
    # The sign of its slope, that of lam g - h at the label found, decides where to go on. The
    # losses and margins that a better label can have are bisected together with lam (their 4.3):
    # better labels lie below the line h + lam g = K of a query and above the hyperbola of the best
    # label, which cross at two points, and h and g of better labels lie between theirs. The search
    # ends when the labels at both ends of the interval are the only ones that the lambda-oracle can
    # still give, or when the bound proves that nothing better exists (their appendix D).
    cdef int bisect(self) except -1 nogil:
        cdef double low = 0.0, high = INFINITY, lam = self.first_weight()
        cdef double low_h = 0.0, low_g = -1.0, high_h = 0.0, high_g = -1.0
        # that better labels can have
        cdef double least_h = 0.0, least_g = 0.0, most_h = INFINITY, most_g = INFINITY
        cdef double value, root, least, most
        cdef bint again, hull = False
        while True:
            # the lambda-oracle, and its bound
            self.n_search_queries += 1
            StructuredProblem.argmax(self, self.i, self.theta, lam, &self.code[0], &self.g)
            self.update_best()
            value = max(self.h + lam * self.g + self.structure.excess, 0.0)
            self.bound = max(min(self.bound, value * value / (4.0 * lam)), self.best)
            if self.done():
                return 0
            again = (self.h == low_h and self.g == low_g) or (self.h == high_h and self.g == high_g)
            if again and hull:
                return 0    # no label lies above the line through the two
            if lam * self.g < self.h:
                low, low_h, low_g = lam, self.h, self.g
            else:
                high, high_h, high_g = lam, self.h, self.g
            if low_h == high_h and low_g == high_g:
                return 0
            # the query narrows the interval of lam
            value = self.h + lam * self.g
            root = sqrt(max(value * value - 4.0 * lam * self.best, 0.0))
            least_h = max(least_h, 0.5 * (value - root))
            most_h = min(most_h, 0.5 * (value + root))
            least_g = max(least_g, 0.5 * (value - root) / lam)
            most_g = min(most_g, 0.5 * (value + root) / lam)
            if least_h > most_h or least_g > most_g:
                return 0
            # U is least at h / g of the label that it bounds best: evaluate there if it is possible
            least = max(low, least_h / most_g)
            most = min(high, most_h / least_g) if least_g > 0.0 else high
            if not least < most * (1.0 - EQUAL):
                least, most = low, high
            if not least < most * (1.0 - EQUAL):
                return 0
            hull = again and low_g >= 0.0 and high_g >= 0.0
            if hull:
                lam = (low_h - high_h) / (high_g - low_g)
                if not low < lam < high:
                    return 0    # the two are equally good at an end of the interval
            elif again and self.h > 0.0 < self.g and low < self.h / self.g < high:
                lam = self.h / self.g    # if the same label is the answer there, it is proven best
            elif most == INFINITY:
                lam = least * STRIDE
            elif least == 0.0:
                lam = most / STRIDE
            else:
                lam = sqrt(least) * sqrt(most)
            if not LEAST < lam < MOST:
                return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t size = self.code_length(i) - BITS
        cdef int32_t* last = &self.last_answers[self.places[i]]
        self.i, self.theta, self.offset = i, theta, loss_weight
        self.n_search_queries = 0
        self.best = self.best_h = self.best_g = 0.0
        self.bound = INFINITY
        StructuredProblem.truth(self, i, &self.best_code[0])
        self.plane_store.keep(i, &self.best_code[0])
        self.g = loss_of(last + size)
        if self.g > 0.0:
            memcpy(&self.code[0], last, size * sizeof(int32_t))
            self.update_best()
        if self.search == EXACT:
            self.take_best()
        elif self.search == ANGULAR:
            self.split_cones()
        else:
            self.bisect()
        self.counter[0] += self.n_search_queries
        self.plane_store.forget(i, last)
        loss[0] = self.best_g
        memcpy(last, &self.best_code[0], size * sizeof(int32_t))
        memcpy(last + size, loss, sizeof(double))
        memcpy(code, last, (size + BITS) * sizeof(int32_t))
        if self.bounds:
            self.excess = max(self.bound - self.best, 0.0)
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef Py_ssize_t e, n = StructuredProblem.plane(self, i, code, index, value)
        cdef double loss = loss_of(code + self.code_length(i) - BITS)
        for e in range(n):
            value[e] *= loss
        return n if loss > 0.0 else 0

    # the labelling must be one, and any bits may follow it
    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return StructuredProblem.code_length(self, i) + BITS

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        cdef double loss = 0.0
        StructuredProblem.truth(self, i, code)
        memcpy(code + self.code_length(i) - BITS, &loss, sizeof(double))
        return 0

    cpdef Problem fork(self):
        return SlackProblem(
            self.map.fork(), self.structure.fork(), self.loss, self.block_weight, *self.settings,
            self
        )

    def restrict(self, blocks, block_weight):
        """Return the same for some blocks of the other problem alone."""
        cdef SlackProblem other = rescaled(
            StructuredProblem.restrict(self, blocks, block_weight), *self.settings
        )
        # its queries are counted here, at once and for all parts
        other.counter = self.counter
        return other

    def margin(self):
        """Return the same problem under margin rescaling."""
        return StructuredProblem(self.map, self.structure, self.loss, self.block_weight)

    def n_queries(self, n_calls):
        """Return how often the searches of all forks have called the oracle."""
        return int(np.sum(self.counters))

    def fingerprint(self):
        """Return the fingerprint of the other problem, marked as one of scaled planes."""
        inner = StructuredProblem.fingerprint(self)
        return Fingerprint(inner.whole | {"rescaling": "slack"}, inner.blocks)

    def oracle_pool(self, n_jobs):
        """Return None: the pool of the other problem computes maxima of margin rescaling."""

    def decomposition(self):
        """Return None: products are no sums over factors."""

    def state_blocks(self):
        """Return None: planes are no states, they are scaled."""

    def coded_planes(self):
        """Return None: codes have the factors of planes, too."""


def rescaled(problem, name, tol, max_queries):
    """Return a problem under slack rescaling; see `SlackProblem`."""
    return SlackProblem(
        problem.map, problem.structure, problem.loss, problem.block_weight, name, tol, max_queries
    )


cdef double loss_of(const int32_t* bits) noexcept nogil:
    cdef double loss
    memcpy(&loss, bits, sizeof(double))
    return loss
