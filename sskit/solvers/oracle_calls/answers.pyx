"""What oracles that are asked at one w have found (see the .pxd)."""

import numpy as np

from libc.string cimport memcpy


cdef class Hinges:
    """Hinges of blocks.

    Parameters
    ----------
    problem : Problem
        Gives the sizes.
    capacity : int
        Largest number of questions.
    """

    def __cinit__(self, Problem problem, Py_ssize_t capacity, *args):
        self.problem = problem
        self.block = np.zeros(capacity, dtype=np.intp)
        self.hinge = np.zeros(capacity)
        self.excess = np.zeros(capacity)
        self.answered = np.zeros(capacity, dtype=np.uint8)
        self.loss_weight = 1.0

    def ask_all(self):
        """Make every block a question; there must be room for just these."""
        self.n = self.hinge.shape[0]
        self.block = np.arange(self.n, dtype=np.intp)

    def hinges(self):
        """Return the hinges, shape (n,)."""
        return np.asarray(self.hinge)[: self.n]

    def excesses(self):
        """Return by how much the hinges may be larger, shape (n,); 0 where nothing is known."""
        return np.asarray(self.excess)[: self.n]

    cdef void open(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n):
            self.answered[k] = 0

    cdef Py_ssize_t n_answered(self) noexcept nogil:
        cdef Py_ssize_t k, total = 0
        for k in range(self.n):
            total += self.answered[k]
        return total

    cdef int ask(
        self, Py_ssize_t k, Problem problem, Visit visit, const double* w
    ) except -1 nogil:
        visit.call_oracle(problem, self.block[k], w, self.loss_weight)
        self.record(k, problem, visit)
        self.answered[k] = 1
        return 0

    cdef int record(self, Py_ssize_t k, Problem problem, Visit visit) except -1 nogil:
        self.hinge[k] = visit.hinge
        self.excess[k] = visit.excess
        return 0


cdef class Gaps(Hinges):
    """Hinges and gaps of blocks.

    Parameters
    ----------
    problem : Problem
        Gives the sizes.
    capacity : int
        Largest number of questions.
    dual : DualState
        The dual point.
    """

    def __cinit__(self, Problem problem, Py_ssize_t capacity, DualState dual, *args):
        self.dual = dual
        self.gap = np.zeros(capacity)

    def gaps(self):
        """Return the block gaps, shape (n,)."""
        return np.asarray(self.gap)[: self.n]

    cdef int record(self, Py_ssize_t k, Problem problem, Visit visit) except -1 nogil:
        cdef Py_ssize_t i = self.block[k]
        cdef double mix = self.dual.blocks[i].loss - self.dual.dot(i, &visit.theta[0])
        self.gap[k] = problem.block_weight[i] * (visit.hinge - mix)
        return Hinges.record(self, k, problem, visit)


cdef class InexactGaps(Gaps):
    """The same where the oracle may miss the maximum.

    The hinge is then the best of what it found, the truth, the stored planes and the mix, which
    is no better than the best of all planes that it was mixed from, stored or not. An answer that
    is proven best stands, as with an exact oracle.
    """

    cdef int record(self, Py_ssize_t k, Problem problem, Visit visit) except -1 nogil:
        if problem.bounds and visit.excess == 0.0:
            return Gaps.record(self, k, problem, visit)
        cdef Py_ssize_t i = self.block[k], code_length = self.dual.code_length[i], p
        cdef double mix = self.dual.blocks[i].loss - self.dual.dot(i, &visit.theta[0])
        cdef double hinge = max(visit.hinge, mix)
        for p in range(self.dual.blocks[i].n_planes):
            visit.load_plane(
                problem, i, self.dual.blocks[i].code + p * code_length,
                self.dual.blocks[i].plane_loss[p]
            )
            hinge = max(hinge, visit.bound())
        self.hinge[k] = hinge
        # what is known is above what was found; the upper bound stays
        self.excess[k] = max(visit.excess - (hinge - visit.hinge), 0.0)
        self.gap[k] = problem.block_weight[i] * (hinge - mix)
        return 0


cdef class Planes(Gaps):
    """Planes, hinges and gaps of blocks.

    Parameters
    ----------
    problem : Problem
        Gives the sizes.
    capacity : int
        Largest number of questions.
    dual : DualState
        The dual point.
    """

    def __cinit__(self, Problem problem, Py_ssize_t capacity, DualState dual, *args):
        self.code = np.zeros((capacity, max(problem.max_code_length, 1)), dtype=np.int32)
        self.loss = np.zeros(capacity)

    cdef int record(self, Py_ssize_t k, Problem problem, Visit visit) except -1 nogil:
        Gaps.record(self, k, problem, visit)
        self.loss[k] = visit.loss
        memcpy(
            &self.code[k, 0], &visit.code[0],
            problem.code_length(self.block[k]) * sizeof(int32_t)
        )
        return 0
