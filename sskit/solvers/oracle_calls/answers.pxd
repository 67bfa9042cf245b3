from libc.stdint cimport int32_t

from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.solvers.oracle_calls.call cimport Visit


cdef class Answers:
    """What the oracles of several blocks found at one w: hinges, and perhaps gaps and planes.

    Question k is about block[k], for k < n. Two threads may record different questions at once.
    """

    cdef Problem problem
    cdef DualState dual              # whose gaps are wanted; must not move while oracles are asked
    cdef bint with_gaps
    cdef bint with_planes
    cdef bint compares               # with what is known without the oracle
    cdef Py_ssize_t[::1] block       # (capacity,) in range
    cdef Py_ssize_t n
    cdef double loss_weight          # factor of the losses in all questions, one unless set
    cdef double[::1] hinge           # (capacity,) H_i = max_y L_i(y) - <w, psi_i(y)>
    cdef double[::1] excess          # (capacity,) at most so much is missing from H_i, see Visit
    cdef double[::1] gap             # (capacity,) c_i (H_i - (loss_i - <w, psi_i>)) of the mix
    cdef int32_t[:, ::1] code        # (capacity, max_code_length)
    cdef double[::1] loss            # (capacity,)
    cdef unsigned char[::1] answered  # (capacity,) 1 where the oracle has been asked

    # forget all answers
    cdef void open(self) noexcept nogil
    cdef Py_ssize_t n_answered(self) noexcept nogil
    # ask the oracle of question k at w, by this problem and this visit, and record the answer
    cdef int ask(
        self, Py_ssize_t k, Problem problem, Visit visit, const double* w
    ) except -1 nogil
