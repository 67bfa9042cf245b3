"""Updates of the mix of one factor (see the .pxd)."""

from sskit.parallel.buffer cimport need
from sskit.solvers.simplex_qp.line_search cimport best_step


cdef class Update:
    """Base of the updates."""

    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement propose")

    cdef int split(self, const int32_t* state, Py_ssize_t n, int32_t n_states) except -1 nogil:
        cdef Py_ssize_t k
        need(self.first.reserve(n) and self.second.reserve(n))
        for k in range(n):
            self.first.data()[k] = state[k] // n_states
            self.second.data()[k] = state[k] % n_states
        return 0

    cdef double curvature(
        self, const double* d, Py_ssize_t n, const Quadratic* quadratic
    ) noexcept nogil:
        cdef Py_ssize_t k, m
        cdef double total = 0.0, shared = 0.0
        cdef const int32_t* first = self.first.data()
        cdef const int32_t* second = self.second.data()
        for k in range(n):
            total += quadratic.own[k] * d[k] * d[k]
        if quadratic.shared > 0.0:
            for k in range(n):
                shared += 2.0 * d[k] * d[k]
                for m in range(k):
                    shared += 2.0 * d[k] * d[m] * (
                        (first[k] == first[m]) + (second[k] == second[m])
                    )
        return quadratic.scale * (total + quadratic.shared * shared)

    cdef double decrease(
        self, const double* d, Py_ssize_t n, const Quadratic* quadratic
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double slope = 0.0
        for k in range(n):
            slope += quadratic.gain[k] * d[k]
        return slope - 0.5 * self.curvature(d, n, quadratic)


cdef class PlainUpdate(Update):
    """A step of Frank-Wolfe towards the greedy state, with exact line search."""

    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil:
        cdef Py_ssize_t k
        cdef double slope = quadratic.gain[greedy]
        self.split(state, n, quadratic.n_states)
        for k in range(n):
            slope -= weight[k] * quadratic.gain[k]
            change[k] = -weight[k]
        change[greedy] += 1.0
        return self.walk(slope, 1.0, n, quadratic, change)

    cdef double walk(
        self, double slope, double most, Py_ssize_t n, const Quadratic* quadratic, double* change
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double curvature = self.curvature(change, n, quadratic)
        cdef double step = best_step(slope, curvature, most) if slope > 0.0 else 0.0
        for k in range(n):
            change[k] *= step
        return step * (slope - 0.5 * step * curvature)


cdef class AwayUpdate(PlainUpdate):
    """A step of Frank-Wolfe, towards the greedy state or away from the worst (algorithm 2)."""

    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil:
        cdef const double* gain = quadratic.gain
        cdef Py_ssize_t k, worst = -1
        cdef double mean = 0.0, most, decrease
        for k in range(n):
            mean += weight[k] * gain[k]
            if weight[k] > 0.0 and (worst < 0 or gain[k] < gain[worst]):
                worst = k
        if gain[greedy] - mean >= mean - gain[worst]:
            return PlainUpdate.propose(self, state, weight, n, greedy, quadratic, change)
        self.split(state, n, quadratic.n_states)
        most = weight[worst] / (1.0 - weight[worst])
        for k in range(n):
            change[k] = weight[k]
        change[worst] -= 1.0
        decrease = self.walk(mean - gain[worst], most, n, quadratic, change)
        # the longest step leaves nothing of it, not even of the rounding
        if change[worst] == most * (weight[worst] - 1.0):
            change[worst] = -weight[worst]
        return decrease


cdef class ProjectionUpdate(Update):
    """The best mix of its states where the curvature is the same in all directions (eq. 19).

    It is for nodes; for edges the largest curvature takes the place of the others.
    """

    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil:
        cdef Py_ssize_t k, m, crowd, largest = 1
        cdef double curvature = 0.0
        cdef const int32_t* first
        cdef const int32_t* second
        for k in range(n):
            curvature = max(curvature, quadratic.own[k])
        if quadratic.shared > 0.0:
            self.split(state, n, quadratic.n_states)
            first, second = self.first.data(), self.second.data()
            for k in range(n):
                crowd = 0
                for m in range(n):
                    crowd += (first[k] == first[m]) + (second[k] == second[m])
                largest = max(largest, crowd)
        curvature = quadratic.scale * (curvature + quadratic.shared * largest)
        if not curvature > 0.0:
            for k in range(n):
                change[k] = (k == greedy) - weight[k]
            return self.decrease(change, n, quadratic)
        need(self.point.reserve(n))
        for k in range(n):
            change[k] = weight[k] + quadratic.gain[k] / curvature
        project(change, n, self.point.data())
        for k in range(n):
            change[k] = change[k] - weight[k] if change[k] > 0.0 else -weight[k]
        return self.decrease(change, n, quadratic)


cdef void project(double* x, Py_ssize_t n, double* order) noexcept nogil:
    """Project x onto the simplex; `order` is scratch memory."""
    cdef Py_ssize_t k, m
    cdef double total = 0.0, value, shift = 0.0
    for k in range(n):
        value = x[k]
        m = k
        while m > 0 and order[m - 1] < value:
            order[m] = order[m - 1]
            m -= 1
        order[m] = value
    for k in range(n):
        total += order[k]
        value = (total - 1.0) / (k + 1)
        if order[k] > value:
            shift = value
    for k in range(n):
        x[k] = max(x[k] - shift, 0.0)
