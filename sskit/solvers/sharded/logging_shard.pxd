from libc.stdint cimport int32_t, int64_t

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.parallel.buffer cimport Buffer
from sskit.solvers.sharded.shard cimport Shard

cdef extern from "move_log.hpp" namespace "sskit" nogil:
    cdef cppclass LoggedMove:
        Py_ssize_t block, n, first
        double step
    cdef cppclass MoveLog:
        Buffer[LoggedMove] moves
        Buffer[int32_t] index
        Buffer[double] value
        bint add(
            Py_ssize_t block, double step, const int32_t* indices, const double* values,
            Py_ssize_t n
        )
        void clear()


cdef class LoggingRegularizer(Regularizer):
    """Weights whose moves are logged.

    Either all shards read those of the run, which stay as they are until the round is over; or the
    moves are made at once, in a copy for each shard but one, which then follows the other logs.
    """

    cdef MoveLog log
    cdef bint moves                  # are moves made at once?


cdef class LoggingShard(Shard):
    """A shard that others can follow move by move, whichever weights they have.

    Made for very many weights, of which a visit moves few.
    """

    cdef LoggingRegularizer weights
    cdef double before               # what visits had gained when the round began

    # v += factor * the moves of this round, in one part of the weights, with scratch memory of
    # whoever asks; returns by how much ||v||^2 grows
    cdef double write(
        self, Problem problem, Direction scratch, double factor, const int64_t* part, double* v
    ) noexcept nogil
