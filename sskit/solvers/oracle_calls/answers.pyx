"""What oracles that are asked at one w have found (see the .pxd)."""

import numpy as np

from libc.string cimport memcpy


cdef class Answers:
    """Hinges of blocks, perhaps with their gaps and planes.

    Where the oracle may miss the maximum and no planes are kept, the hinge that goes with gaps is
    the best of what it found, the truth and the planes of the block; one that was merged is no
    better than the best of those it was merged from. An answer that is proven best stands, as with
    an exact oracle.

    Parameters
    ----------
    problem : Problem
        Gives the sizes.
    capacity : int
        Largest number of questions.
    dual : DualState, default=None
        The dual point whose gaps are wanted, if any.
    """

    def __cinit__(self, Problem problem, Py_ssize_t capacity, DualState dual=None, *args):
        self.problem = problem
        self.compares = not problem.exact
        self.block = np.zeros(capacity, dtype=np.intp)
        self.hinge = np.zeros(capacity)
        self.excess = np.zeros(capacity)
        self.answered = np.zeros(capacity, dtype=np.uint8)
        self.loss_weight = 1.0
        self.with_gaps = dual is not None
        if self.with_gaps:
            self.dual = dual
            self.gap = np.zeros(capacity)

    def keep_planes(self):
        """Record the planes of all answers from now on."""
        capacity = len(self.hinge)
        self.with_planes, self.compares = True, False
        self.code = np.zeros((capacity, max(self.problem.max_code_length, 1)), dtype=np.int32)
        self.loss = np.zeros(capacity)

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

    def gaps(self):
        """Return the block gaps, shape (n,)."""
        return np.asarray(self.gap)[: self.n]

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
        cdef Py_ssize_t i = self.block[k], p
        cdef double mix = 0.0, weight
        cdef bint compares
        visit.call_oracle(problem, i, w, self.loss_weight)
        self.hinge[k], self.excess[k] = visit.hinge, visit.excess
        if self.with_planes:
            self.loss[k] = visit.loss
            memcpy(&self.code[k, 0], &visit.code[0], problem.code_length(i) * sizeof(int32_t))
        if self.with_gaps:
            compares = self.compares and not (problem.bounds and visit.excess == 0.0)
            for p in range(self.dual.blocks[i].n_planes):
                weight = self.dual.blocks[i].weight[p]
                if weight > 0.0 or compares:
                    visit.n = self.dual.plane(problem, i, p, &visit.index[0], &visit.value[0])
                    visit.loss = self.dual.blocks[i].plane_loss[p]
                    mix += weight * visit.bound()
                    if compares:
                        self.hinge[k] = max(self.hinge[k], visit.bound())
            # what is known is above what was found; the upper bound stays
            self.excess[k] = max(visit.excess - (self.hinge[k] - visit.hinge), 0.0)
            self.gap[k] = problem.block_weight[i] * (self.hinge[k] - mix)
        self.answered[k] = 1
        return 0
