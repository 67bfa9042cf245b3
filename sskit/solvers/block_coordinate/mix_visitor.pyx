"""What visitors share that keep no planes (see the .pxd)."""

from sskit.core.checks cimport check_equal
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.oracle_calls.minibatch cimport known


cdef class MixVisitor(Visitor):
    """Base of the visitors that leave nothing behind but the mix of the block."""

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer,
                  Averager averager, double[::1] gaps):
        dual.match(problem)
        regularizer.match(problem)
        averager.match(problem)
        check_equal(gaps.shape[0], problem.n_blocks, "the number of gaps")
        self.problem = problem
        self.dual = dual
        self.regularizer = regularizer
        self.averager = averager
        self.gaps = gaps
        self.delta = Direction(problem.max_statistics)

    cdef double increased(self) noexcept nogil:
        return self.increase

    cdef void leave(self, Py_ssize_t i, Sampler sampler) noexcept nogil:
        sampler.learned(i, known(self.gaps[i]))

    cdef int pass_over(self, Py_ssize_t i, double gap, Sampler sampler) except -1 nogil:
        self.gaps[i] = gap
        sampler.learned(i, gap)
        return 0
