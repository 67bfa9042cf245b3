"""Problems under slack rescaling (see the .pxd)."""

import numpy as np

from libc.string cimport memcpy

from sskit.core.fingerprint import Fingerprint

from sskit.core.capabilities cimport PlaneStore
from sskit.core.direction cimport Direction

cdef Py_ssize_t BITS = sizeof(double) // sizeof(int32_t)   # code of a loss


cdef class SlackProblem(Problem):
    """A problem under slack rescaling.

    Parameters
    ----------
    problem : Problem
        The same under margin rescaling.
    search : SlackSearch
        Finds the answers of argmax; asks this problem.
    other : SlackProblem, default=None
        That of which this is a fork: what its blocks hold is shared.

    Raises
    ------
    TypeError
        If the problem exports planes by numbers and its blocks have codes of different lengths.
    """

    def __cinit__(self, Problem problem, SlackSearch search, SlackProblem other=None):
        cdef Py_ssize_t i
        problem.match(search.problem)
        self.adopt(problem, search)
        if other is not None:
            problem.match(other.problem)
            self.plane_store, self.counters = other.plane_store, other.counters
            self.places, self.held, self.held_loss = other.places, other.held, other.held_loss
            self.counters.append(search.counts)
            return
        sizes = np.array([problem.code_length(i) for i in range(problem.n_blocks)], dtype=np.int64)
        if (sizes == sizes[0]).all():
            self.plane_store = ScaledPlaneStore(problem.plane_store, sizes[0])
        elif type(problem.plane_store) is not PlaneStore:
            raise TypeError(f"slack rescaling cannot export planes of {problem.name}")
        places = np.concatenate([[0], sizes.cumsum()])
        self.places = places
        self.held = np.zeros(max(sizes.sum(), 1), dtype=np.int32)
        self.held_loss = np.zeros(problem.n_blocks)
        for i in range(problem.n_blocks):
            problem.truth(i, &self.held[self.places[i]])
        self.counters = [search.counts]

    # the sizes of a problem, and what it can do
    cdef adopt(self, Problem problem, SlackSearch search):
        self.problem = problem
        self.search = search
        self.n_blocks = problem.n_blocks
        self.n_weights = problem.n_weights
        self.max_statistics = problem.max_statistics
        self.max_code_length = problem.max_code_length + BITS
        self.max_support = problem.max_support
        self.exact, self.bounds = search.exact, search.bounds
        self.lock_free = search.lock_free
        self.costly = problem.costly
        self.space = problem.space
        self.block_weight = problem.block_weight

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        return self.problem.scores(i, w, theta)

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        return self.problem.scores_at(i, w, index, count, theta)

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t size = self.problem.code_length(i)
        cdef int32_t* held = &self.held[self.places[i]]
        self.search.find(i, theta, loss_weight, held, self.held_loss[i], code, loss)
        self.problem.plane_store.forget(i, held)
        memcpy(held, code, size * sizeof(int32_t))
        self.held_loss[i] = loss[0]
        if self.bounds:
            self.excess = max(self.search.bound - self.search.best, 0.0)
        memcpy(code + size, loss, sizeof(double))
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef Py_ssize_t e, n = self.problem.plane(i, code, index, value)
        cdef double loss
        memcpy(&loss, code + self.problem.code_length(i), sizeof(double))
        for e in range(n):
            value[e] *= loss
        return n if loss > 0.0 else 0

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.problem.code_length(i) + BITS

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        cdef double loss = 0.0
        self.problem.truth(i, code)
        memcpy(code + self.problem.code_length(i), &loss, sizeof(double))
        return 0

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return self.problem.knows(i, code)    # behind them the bits of any number

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        return self.problem.scatter(i, delta, step, v)

    cdef double scatter_part(
        self, Py_ssize_t i, Direction delta, double step, const int64_t* part, double* v
    ) noexcept nogil:
        return self.problem.scatter_part(i, delta, step, part, v)

    def cut_weights(self, n_parts):
        """Return where parts of the weights begin."""
        return self.problem.cut_weights(n_parts)

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        self.problem.clip(i, delta, v, lower, upper, w)
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        return self.problem.sqnorm(i, delta)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        self.problem.prefetch(i)

    cpdef Problem fork(self):
        cdef Problem problem = self.problem.fork()
        return SlackProblem(problem, self.search.fork(problem), self)

    def restrict(self, blocks, block_weight):
        """Return the same for some blocks of the inner problem alone."""
        cdef Problem problem = self.problem.restrict(blocks, block_weight)
        cdef SlackProblem other = SlackProblem(problem, self.search.fork(problem))
        # its searches are counted here, at once and for all parts
        other.search.counts = self.search.counts
        return other

    def n_queries(self, n_calls):
        """Return how often the oracle behind the searches was asked, by all forks."""
        return int(np.sum(self.counters, axis=0)[1])

    def n_searches(self):
        """Return how many searches there were, by all forks."""
        return int(np.sum(self.counters, axis=0)[0])

    def fingerprint(self):
        """Return by what the inner problem is known again, and that its planes are scaled."""
        inner = self.problem.fingerprint()
        return Fingerprint(inner.whole | {"rescaling": "slack"}, inner.blocks)


cdef class ScaledPlaneStore(PlaneStore):
    """A store of planes whose codes are followed by the bits of their losses.

    Parameters
    ----------
    inner : PlaneStore
        Of the planes themselves.
    inner_code_length : int
        Length of their codes.
    """

    cdef PlaneStore inner
    cdef Py_ssize_t inner_code_length

    def __cinit__(self, PlaneStore inner not None, Py_ssize_t inner_code_length):
        self.inner, self.inner_code_length = inner, inner_code_length

    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 nogil:
        return self.inner.keep(i, code)

    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        self.inner.forget(i, code)

    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return self.inner.plane_bytes(i, code)

    def export_planes(self, code):
        """Return planes by the exported inner planes and the bits of their losses."""
        code = code.reshape(-1, self.inner_code_length + BITS)
        inner = np.ascontiguousarray(code[:, : self.inner_code_length]).ravel()
        return self.inner.export_planes(inner), code[:, self.inner_code_length :].copy()

    def import_planes(self, blocks, planes):
        """Return codes of planes that `export_planes` returned, each kept once more."""
        inner, losses = planes
        inner = np.asarray(self.inner.import_planes(blocks, inner), dtype=np.int32)
        return np.hstack([inner.reshape(len(losses), self.inner_code_length), losses]).ravel()
