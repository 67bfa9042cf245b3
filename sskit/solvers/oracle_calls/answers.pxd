from libc.stdint cimport int32_t

from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.solvers.oracle_calls.call cimport Visit


cdef class Hinges:
    """What the oracles of several blocks found at one w: the hinges.

    Question k is about block[k], for k < n. Two threads may record different questions at once.
    """

    cdef Problem problem
    cdef Py_ssize_t[::1] block       # (capacity,) in range
    cdef Py_ssize_t n
    cdef double loss_weight          # factor of the losses in all questions, one unless set
    cdef double[::1] hinge           # (capacity,) H_i = max_y L_i(y) - <w, psi_i(y)>
    cdef double[::1] excess          # (capacity,) at most so much is missing from H_i, see Visit
    cdef unsigned char[::1] answered  # (capacity,) 1 where the oracle has been asked

    # forget all answers
    cdef void open(self) noexcept nogil
    cdef Py_ssize_t n_answered(self) noexcept nogil
    # ask the oracle of question k at w, by this problem and this visit, and record the answer
    cdef int ask(
        self, Py_ssize_t k, Problem problem, Visit visit, const double* w
    ) except -1 nogil
    # what `visit` has just learnt of block[k]
    cdef int record(self, Py_ssize_t k, Problem problem, Visit visit) except -1 nogil


cdef class Gaps(Hinges):
    """The block gaps too: c_i (H_i - (loss_i - <w, psi_i>)) with psi_i, loss_i of the mix."""

    cdef DualState dual              # must not move while oracles are asked
    cdef double[::1] gap             # (capacity,)


cdef class InexactGaps(Gaps):
    """Compared with what is known without the oracle, unless an answer is proven best."""


cdef class Planes(Gaps):
    """The planes too."""

    cdef int32_t[:, ::1] code       # (capacity, max_code_length)
    cdef double[::1] loss            # (capacity,)
