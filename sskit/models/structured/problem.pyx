"""Structures written in Python, bound to data (see the .pxd)."""

import numpy as np

from libc.math cimport fabs
from libc.string cimport memcpy

from sskit.core.fingerprint import Fingerprint
from sskit.models.object_hashes import model_digest, sample_digests

from sskit.core.checks cimport check_equal
from sskit.core.direction cimport Direction
from sskit.models.structured.plane_store cimport TRUTH, UNKNOWN

from sskit.models.structured.oracle_pool import OraclePool, uses_processes

# Share of the size of the numbers by which an exact oracle may miss its maximum: rounding.
cdef double ROUNDING = 1e-9


cdef class PythonProblem(Problem):
    """A structure bound to data. The truth of every sample is checked here, once.

    Parameters
    ----------
    answers : Answers
        The structure and its samples.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the samples, summing to one.
    exact : bool, default=True
        Whether the structure's argmax truly maximises.
    costly : bool, default=True
        Whether its argmax is slow compared with a step of the solver.
    parallel : {"threads", "processes"}, default="threads"
        What should ask argmax of many samples, if there are several workers.
    other : PythonProblem, default=None
        That of which this is a fork: the planes are shared.
    """

    def __cinit__(self, answers, block_weight, bint exact=True, bint costly=True,
                  str parallel="threads", PythonProblem other=None):
        self.answers = answers
        self.block_weight = block_weight
        self.exact = exact
        self.costly = costly
        self.parallel = parallel
        self.n_blocks = len(answers.X)
        self.n_weights = answers.n_weights
        self.max_statistics = self.n_weights
        self.max_code_length = 1
        self.max_support = self.n_weights
        check_equal(len(block_weight), self.n_blocks, "the number of block weights")
        self.pending = np.zeros(self.n_blocks, dtype=np.int32)
        if other is not None:
            self.match(other)
            self.truths, self.is_whole = other.truths, True
            self.plane_store = self.planes = other.planes
            return
        truths = [answers.truth(i) for i in range(self.n_blocks)]
        self.truths = [(index, value) for index, value, _ in truths]
        self.plane_store = self.planes = HandleStore(
            [key for _, _, key in truths], self.n_weights
        )
        self.is_whole = True

    def __del__(self):
        # after an error in the making nothing else can be asked
        if self.is_whole:
            for handle in self.pending:
                self.planes.release(handle)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return code[0] == TRUTH or self.planes.has(i, code[0])

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        code[0] = TRUTH
        return 0

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        memcpy(theta, w, self.n_weights * sizeof(double))
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t e
        for e in range(count):
            theta[index[e]] = w[index[e]]
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        with gil:
            code[0] = self.ask(i, theta, loss_weight)
        loss[0] = self.planes.at(code[0]).loss
        return 0

    cdef int32_t ask(self, Py_ssize_t i, const double* theta, double loss_weight) except? -1:
        cdef int32_t found, handle
        cdef Py_ssize_t j
        weights = np.empty(self.n_weights)  # a copy: the structure may keep or change it
        cdef double[::1] w = weights
        memcpy(&w[0], theta, self.n_weights * sizeof(double))
        if loss_weight != 0.0 and loss_weight != 1.0:
            # the same maximiser, and the structure knows whole losses only
            for j in range(self.n_weights):
                w[j] /= loss_weight
        known = None
        if self.ahead is not None and loss_weight == 1.0:
            known = self.ahead.pop(i)
        if known is None:
            y = self.answers.argmax(i, weights, loss_weight != 0.0)
        else:
            y = known[0]
        found = self.find(i, y, known)
        try:
            handle = self.judge(i, found, theta, loss_weight)
        except Exception:
            self.planes.release(found)
            raise
        self.planes.release(self.pending[i])
        self.pending[i] = handle
        return handle

    cdef int32_t find(self, Py_ssize_t i, object y, object known) except? -1:
        """Return the handle of a labelling, held once more; known: it, its phi and its loss."""
        cdef const int32_t[::1] true_index, index
        cdef const double[::1] true_value, value
        cdef Py_ssize_t a = 0, b = 0, n = 0
        key = self.answers.key(i, y)
        cdef int32_t handle = self.planes.find(i, key)
        if handle != UNKNOWN:
            return handle
        true_index, true_value = self.truths[i]
        index, value = self.answers.joint_feature(i, y) if known is None else known[1]
        cdef int32_t[::1] psi_index = np.empty(len(true_index) + len(index), dtype=np.int32)
        cdef double[::1] psi_value = np.empty(len(true_index) + len(index))
        while a < true_index.shape[0] or b < index.shape[0]:
            if b == index.shape[0] or (a < true_index.shape[0] and true_index[a] < index[b]):
                psi_index[n], psi_value[n] = true_index[a], true_value[a]
                a += 1
            elif a == true_index.shape[0] or index[b] < true_index[a]:
                psi_index[n], psi_value[n] = index[b], -value[b]
                b += 1
            else:
                psi_index[n], psi_value[n] = true_index[a], true_value[a] - value[b]
                a += 1
                b += 1
            n += psi_value[n] != 0.0
        loss = self.answers.loss(i, y) if known is None else known[2]
        if n == 0 and loss == 0.0:
            return TRUTH  # written in another way
        return self.planes.add(i, key, psi_index[:n], psi_value[:n], loss)

    cdef int32_t judge(
        self, Py_ssize_t i, int32_t handle, const double* theta, double loss_weight
    ) except? -1:
        """Return the handle to go on with: that of the answer, unless a known one is better.

        An exact structure must not do worse than the truth and the planes that are known; the
        answer of another is replaced by the best of them, as if it had found that one.
        """
        cdef double size, other_size, value, other_value
        cdef int32_t best = handle, other
        cdef const int32_t[::1] true_index
        cdef const double[::1] true_value
        cdef Py_ssize_t e
        cdef list others = self.planes.kept(i)
        if self.exact:
            others.append(self.pending[i])
        others.append(TRUTH)
        value = bound(self.planes.at(handle), theta, loss_weight, &size)
        for other in others:
            other_value = bound(self.planes.at(other), theta, loss_weight, &other_size)
            if other_value <= value or other == best:
                continue
            if not self.exact:
                best, value = other, other_value
                continue
            true_index, true_value = self.truths[i]
            for e in range(true_index.shape[0]):
                other_size += fabs(true_value[e] * theta[true_index[e]])
            if other_value - value > ROUNDING * (size + other_size):
                raise ValueError(
                    f"argmax of sample {i} returned a labelling that is worse than "
                    + ("the truth" if other == TRUTH else "one that it returned before")
                    + f": its loss and score are lower by {other_value - value:.3g}. Where y_true "
                    "is given, argmax must add the loss to the scores; if it does not truly "
                    "maximise, set exact = False on the model"
                )
        if best != handle:
            self.planes.hold(best)
            self.planes.release(handle)
        return best

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const Plane* plane = self.planes.at(code[0])
        if plane.n:
            memcpy(index, plane.index, plane.n * sizeof(int32_t))
            memcpy(value, plane.value, plane.n * sizeof(double))
        return plane.n

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return 1

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef Py_ssize_t e
        for e in range(delta.n):
            v[delta.index[e]] += step * delta.value[delta.index[e]]
        return 0

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t e
        cdef int32_t j
        for e in range(delta.n):
            j = delta.index[e]
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef double total = 0.0
        cdef Py_ssize_t e
        for e in range(delta.n):
            total += delta.value[delta.index[e]] * delta.value[delta.index[e]]
        return total

    cpdef Problem fork(self):
        return PythonProblem(
            self.answers, self.block_weight, self.exact, self.costly, self.parallel, self
        )

    def oracle_pool(self, n_jobs):
        """Return processes that find answers ahead, or None if threads do."""
        self.ahead = OraclePool(self.answers, n_jobs) if uses_processes(self.parallel) else None
        return self.ahead

    def fingerprint(self):
        """Return by what the same structure, inputs and labellings are known again."""
        return Fingerprint(
            {
                "the model object": model_digest(self.answers.model),
                "the number of weights": self.n_weights,
            },
            {
                "X": sample_digests(self.answers.X, "X"),
                "y": sample_digests(self.answers.Y, "y"),
            },
        )


cdef double bound(
    const Plane* plane, const double* theta, double loss_weight, double* size
) noexcept nogil:
    """Return loss_weight * loss - <psi, theta>, and in `size` the sum of the terms' sizes."""
    cdef double total = loss_weight * plane.loss, term
    cdef Py_ssize_t e
    size[0] = fabs(total)
    for e in range(plane.n):
        term = plane.value[e] * theta[plane.index[e]]
        total -= term
        size[0] += fabs(term)
    return total
