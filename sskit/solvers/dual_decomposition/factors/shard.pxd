from libc.stdint cimport int32_t

from sskit.core.stop cimport Stop
from sskit.parallel.buffer cimport Buffer
from sskit.solvers.dual_decomposition.factors.marginals cimport Message, Mix
from sskit.solvers.dual_decomposition.factors.state cimport FactorState
from sskit.solvers.dual_decomposition.factors.sweep cimport Sweep

cdef extern from "factor_log.hpp" namespace "sskit" nogil:
    cdef struct FactorMove:
        double step
        double score
        Py_ssize_t block
        Py_ssize_t factor
        int32_t state
        bint edge
    cdef cppclass Tape:
        bint write(const int32_t* items, Py_ssize_t n)
        bint write(const double* items, Py_ssize_t n)
        Py_ssize_t next()
        void read(int32_t* items, Py_ssize_t n)
        void read(double* items, Py_ssize_t n)
        void clear()


cdef class ShardState(FactorState):
    """Factors of another state under weights of their own, whose moves are kept."""

    cdef Buffer[FactorMove] moves
    cdef bint scores                     # do moves have their scores?

    cdef int keep(
        self, Py_ssize_t i, Py_ssize_t factor, bint edge, const Mix* mix, const double* change
    ) except -1 nogil
    cdef double score(self, const FactorMove* move) noexcept nogil


cdef class SweepShard:
    """What one worker at a time does in a round, with nothing that others write.

    A round: begin_round(), hand() for every block, all by one thread; then visit(), and when
    nobody visits any more, follow() of every other shard, or undo().
    """

    cdef readonly Sweep sweep            # over a ShardState
    cdef ShardState state
    cdef Buffer[Py_ssize_t] blocks       # to be visited, in this order
    cdef Py_ssize_t n_done
    cdef Py_ssize_t load                 # factors of the blocks
    cdef Tape before                     # mixes and messages of the blocks visited
    cdef double decrease                 # in this round
    cdef double disagreement
    cdef double ascent                   # before it

    cdef void begin_round(self) noexcept nogil
    cdef int hand(self, Py_ssize_t i) except -1 nogil
    # visit the blocks; step < 0 asks the oracles, else it is the step of a stored pass
    cdef int visit(self, double step, Stop stop, bint leads) except -1 nogil
    # write down what a block is before its visit
    cdef int save(self, Py_ssize_t i) except -1 nogil
    cdef bint save_mix(self, const Mix* mix) noexcept nogil
    cdef void restore_mix(self, Mix* mix) noexcept nogil
    cdef void restore(self, Py_ssize_t i) noexcept nogil
    # Move the weights as another shard has moved its own, `share` times as far. If asked, return
    # the inner product of its moves with those that the weights here have made in this round.
    cdef double follow(self, SweepShard other, double share, bint measures) except? -1 nogil
    # the blocks become what they were before the round; weights have to follow
    cdef int undo(self) except -1 nogil
