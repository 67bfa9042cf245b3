from libc.stdint cimport int32_t

from sskit.models.chain.problem cimport ChainProblem
from sskit.oracles.chain.loss_indexed cimport LossIndexed


cdef class CountedChainProblem(ChainProblem):
    """Chains whose losses are whole numbers of a unit of the sequence: the exact slack oracle.

    Of all labellings with one loss only the best can maximise what grows with the score, so the
    loss-indexed programme gives all candidates. They are also what `argmax_within` looks at.
    """

    cdef const int32_t[::1] levels       # (n_rows,) cost of a wrong label, in units
    cdef const double[::1] unit          # (n_blocks,)
    cdef Py_ssize_t largest              # loss of all, in units
    cdef LossIndexed programme           # made when it is first needed: its table may be large
    cdef double[::1] margin              # scratch: h of the best labelling by loss

    # h of the best labelling by loss, -inf where there is none; returns the largest loss
    cdef Py_ssize_t solve(self, Py_ssize_t i, const double* theta, double offset) except -1 nogil
    # code and loss of the best labelling with a loss of the block that was solved last
    cdef int answer(
        self, Py_ssize_t i, const double* theta, Py_ssize_t units, int32_t* code, double* loss
    ) except -1 nogil
