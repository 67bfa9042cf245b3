"""Structures written in Python, bound to data (see the .pxd)."""

import numpy as np

from libc.math cimport fabs
from libc.string cimport memcpy

from sskit.core.fingerprint import Fingerprint
from sskit.models.object_hashes import model_digest, sample_digests

from sskit.core.checks cimport check_equal
from sskit.core.problem cimport Problem
from sskit.models.structured.plane_store cimport TRUTH, UNKNOWN

from sskit.models.structured.oracle_pool import OraclePool, uses_processes

# Share of the size of the numbers by which an exact oracle may miss its maximum: rounding.
cdef double ROUNDING = 1e-9


cdef class PythonProblem(WeightSpaceProblem):
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
        self.truth_of = np.zeros(self.n_blocks, dtype=np.int32)
        if other is not None:
            self.match(other)
            self.truths, self.is_whole = other.truths, True
            self.truth_of, self.completions = other.truth_of, other.completions
            self.plane_store = self.planes = other.planes
            return
        truths = [answers.truth(i) for i in range(self.n_blocks)]
        self.truths = [(index, value) for index, value, _ in truths]
        self.completions = [[TRUTH] for _ in truths]
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
        code[0] = self.truth_of[i]
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
        cdef list others = self.planes.kept(i)
        if self.exact:
            others.append(self.pending[i])
        others.append(TRUTH)
        if self.truth_of[i] != TRUTH:
            others.append(self.truth_of[i])
        value = bound(self.planes.at(handle), theta, loss_weight, &size)
        for other in others:
            other_value = bound(self.planes.at(other), theta, loss_weight, &other_size)
            if other_value <= value or other == best:
                continue
            if not self.exact:
                best, value = other, other_value
                continue
            if other_value - value > ROUNDING * (size + other_size + self.truth_size(i, theta)):
                raise ValueError(
                    f"argmax of sample {i} returned a labelling that is worse than "
                    + ("the truth" if other in (TRUTH, self.truth_of[i])
                       else "one that it returned before")
                    + f": its loss and score are lower by {other_value - value:.3g}. Where y_true "
                    "is given, argmax must add the loss to the scores; if it does not truly "
                    "maximise, set exact = False on the model"
                )
        if best != handle:
            self.planes.hold(best)
            self.planes.release(handle)
        return best

    cdef double truth_size(self, Py_ssize_t i, const double* theta) except? -1:
        """Return the sum of the sizes of the terms of the first truth's score."""
        cdef const int32_t[::1] index
        cdef const double[::1] value
        cdef Py_ssize_t e
        cdef double size = 0.0
        index, value = self.truths[i]
        for e in range(index.shape[0]):
            size += fabs(value[e] * theta[index[e]])
        return size

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const Plane* plane = self.planes.at(code[0])
        cdef const Plane* truth = self.planes.at(self.truth_of[i])
        cdef Py_ssize_t a = 0, b = 0, n = 0
        if code[0] == self.truth_of[i]:
            return 0
        if truth.n == 0:     # the first truth, or one with its joint feature
            if plane.n:
                memcpy(index, plane.index, plane.n * sizeof(int32_t))
                memcpy(value, plane.value, plane.n * sizeof(double))
            return plane.n
        # phi(truth) - phi(y) from what both differ by from the first truth; indices rise
        while a < plane.n or b < truth.n:
            if b == truth.n or (a < plane.n and plane.index[a] < truth.index[b]):
                index[n], value[n] = plane.index[a], plane.value[a]
                a += 1
            elif a == plane.n or truth.index[b] < plane.index[a]:
                index[n], value[n] = truth.index[b], -truth.value[b]
                b += 1
            else:
                index[n], value[n] = plane.index[a], plane.value[a] - truth.value[b]
                a += 1
                b += 1
            n += value[n] != 0.0
        return n

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return 1

    cpdef Problem fork(self):
        return PythonProblem(
            self.answers, self.block_weight, self.exact, self.costly, self.parallel, self
        )

    def completed(self, labellings, w=None):
        """Return completions as truths, which `with_truth` takes.

        Parameters
        ----------
        labellings : list of length n_blocks
            Full labellings.
        w : ndarray of shape (n_weights,), default=None
            The weights that they are best under. An exact structure must then not do worse than
            with completions that were met before; that of another is replaced by the best of them.

        Returns
        -------
        truths : ndarray of shape (n_blocks,), int32
            Handles, the same for equal labellings.

        Raises
        ------
        ValueError
            If one does not agree with what is known, or is worse than another.
        """
        cdef Py_ssize_t i
        cdef int32_t handle
        check_equal(len(labellings), self.n_blocks, "the number of labellings")
        if w is not None:
            check_equal(len(w), self.n_weights, "the number of weights")
        truths = np.zeros(self.n_blocks, dtype=np.int32)
        for i in range(self.n_blocks):
            handle = self.find(i, labellings[i], None)
            if handle in self.completions[i]:
                self.planes.release(handle)
            else:
                try:
                    self.answers.agrees(i, labellings[i])
                except Exception:
                    self.planes.release(handle)
                    raise
                self.completions[i].append(handle)  # held from now on
            if w is not None:
                handle = self.best_completion(i, handle, w)
            truths[i] = handle
        return truths

    cdef int32_t best_completion(
        self, Py_ssize_t i, int32_t handle, const double[::1] w
    ) except? -1:
        cdef double size, other_size, other_value
        cdef double value = bound(self.planes.at(handle), &w[0], 0.0, &size)
        cdef int32_t best = handle, other
        for other in self.completions[i]:
            other_value = bound(self.planes.at(other), &w[0], 0.0, &other_size)
            if other_value <= value:
                continue
            if other_value - value <= ROUNDING * (
                size + other_size + self.truth_size(i, &w[0])
            ):
                continue
            if self.exact:
                raise ValueError(
                    f"complete of sample {i} returned a labelling that is worse than one that it "
                    f"returned before: its score is lower by {other_value - value:.3g}. If it "
                    "does not truly maximise, set exact = False on the model"
                )
            best, value, size = other, other_value, other_size
        return best

    def with_truth(self, truths):
        """Return the same problem with other completions as the truth.

        Parameters
        ----------
        truths : ndarray of shape (n_blocks,), int32
            From `completed`.

        Returns
        -------
        problem : PythonProblem
            Shares all else with this one.

        Raises
        ------
        ValueError
            If one is no completion that was met.
        """
        cdef Py_ssize_t i
        check_equal(len(truths), self.n_blocks, "the number of truths")
        for i in range(self.n_blocks):
            if truths[i] not in self.completions[i]:
                raise ValueError(f"the truth {truths[i]} of block {i} is no completion")
        cdef PythonProblem other = self.fork()
        other.truth_of = np.array(truths, dtype=np.int32)
        return other

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
