from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.parallel.thread_pool cimport Task


cdef class Pool(Task)


cdef class OracleCall:
    """One call of an oracle at one block: potentials and the plane found; reused for all blocks.

    After call_oracle(): theta are the potentials at w; (index, value)[:n] is psi of the plane that
    the oracle found, with code and loss; hinge = loss_weight * loss - <theta, psi> >= 0. No plane
    is above hinge + excess at w, if the oracle is exact or bounds what it may have missed.
    """

    cdef double[::1] theta
    cdef int32_t[::1] code
    cdef int32_t[::1] index
    cdef double[::1] value
    cdef Py_ssize_t n
    cdef double loss, hinge, excess
    cdef Direction delta    # scratch, zero between visits

    # Call the oracle of block i at w. The truth has hinge 0: if an inexact oracle or rounding
    # gives less, the answer becomes the truth (n = 0, loss = 0), and the excess shrinks.
    cdef int call_oracle(
        self, Problem problem, Py_ssize_t i, const double* w, double loss_weight
    ) except -1 nogil
    # the same plane given by its code, at unchanged theta; hinge stays that of call_oracle()
    cdef int load_plane(
        self, Problem problem, Py_ssize_t i, const int32_t* code, double loss
    ) except -1 nogil
    # loss - <theta, psi> of the present plane
    cdef double bound(self) noexcept nogil


cdef class Answers:
    """What the oracles of several blocks found at one w: hinges, and perhaps gaps and planes.

    Question k is about block[k], for k < n. Two threads may record different questions at once.
    """

    cdef Pool pool
    cdef Problem problem
    cdef DualState dual              # whose gaps are wanted; fixed while oracles are called
    cdef OracleCall call             # for the planes; None if they are not kept
    cdef Py_ssize_t[::1] block       # (n_blocks or more,) in range
    cdef Py_ssize_t n
    cdef double loss_weight          # factor of the losses in all questions, 1 unless set
    cdef double[::1] hinge           # (capacity,) H_i = max_y L_i(y) - <w, psi_i(y)>
    cdef double[::1] excess          # (capacity,) so much may be missing from H_i, see OracleCall
    cdef double[::1] gap             # (capacity,) c_i (H_i - (loss_i - <w, psi_i>)) of the mix
    cdef int32_t[:, ::1] code        # (capacity, max_code_length)
    cdef double[::1] loss            # (capacity,)
    cdef unsigned char[::1] answered  # (capacity,) 1 where the oracle has been called
    cdef readonly Py_ssize_t n_calls  # of the oracles, in all calls of evaluate()

    # drop all answers
    cdef void open(self) noexcept nogil
    cdef Py_ssize_t n_answered(self) noexcept nogil
    # call the oracle of question k at w, by this problem and this call, and record the answer
    cdef int evaluate_one(
        self, Py_ssize_t k, Problem problem, OracleCall call, const double* w
    ) except -1 nogil
    # record the answer of question k, which the call holds, with theta at the same w if gaps are
    # wanted
    cdef int record(self, Py_ssize_t k, Problem problem, OracleCall call) except -1 nogil
    # call.delta += psi of the plane of question k
    cdef int load_plane(self, Py_ssize_t k) except -1 nogil


cdef class Pool(Task):
    """Calls the oracles of several blocks at one w. This one calls one after the other.

    Neither the answers nor the error that is raised (that of the first question that has one)
    depend on the kind of pool and the number of its workers.
    """

    cdef readonly Problem problem
    cdef readonly Stop stop              # read after every answer; ends the calls
    cdef readonly list problems          # of each worker: the problem and its forks
    cdef public Py_ssize_t n_calls       # in exact passes so far, and for their purpose elsewhere
    cdef Py_ssize_t before               # queries of the model's oracle before
    cdef list calls
    cdef vector[void*] problem_of        # the same, borrowed
    cdef vector[void*] call_of
    # the questions of the threads
    cdef Answers answers
    cdef const double* w
    cdef Py_ssize_t first

    # afterwards `answered` marks the answers; all, unless the fit is to stop
    cdef int call_oracles(self, Answers answers, const double* w) except -1 nogil
    # answers some of the questions, by all workers
    cdef int share(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil
    cdef weights_at(self, const double* w)
    # answers some of the questions by one worker; returns whether the fit is to stop
    cdef bint evaluate_some(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop,
        Py_ssize_t worker
    ) except -1 nogil
