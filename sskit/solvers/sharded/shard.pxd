from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.parallel.buffer cimport Buffer
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.oracle_calls.minibatch cimport Visitor

cdef extern from "moves.hpp" namespace "sskit" nogil:
    double clipped(double value, double lower, double upper)
    cdef cppclass Moves:
        void follow(double* weights, Py_ssize_t n_weights) except +
        # the weights are about to move
        void keep()
        # what was kept becomes how far the weights have come: <v, move> or <clip(v), move>, and
        # ||move||^2, with v from the beginning of the round
        void measure_linear(double* inner, double* sqnorm)
        void measure_clipped(
            const double* lower, const double* upper, double* inner, double* sqnorm
        )
        double dot(const Moves& other)
        void add_to(double* target, double step)
        # a new round begins; this one is then the one before
        void turn()
        void add_before_to(double* target, double step)
        void clear()

cdef extern from "logs.hpp" namespace "sskit" nogil:
    cdef cppclass BlockBefore:
        Py_ssize_t block, n_entries, n_planes, first_entry, first_weight
        double loss, aggregate
    cdef cppclass UndoLog:
        Buffer[BlockBefore] blocks
        Buffer[int32_t] index
        Buffer[double] value
        Buffer[double] weight
        bint add(
            Py_ssize_t block, const int32_t* indices, const double* values, Py_ssize_t n_entries,
            const double* weights, Py_ssize_t n_planes, double loss, double aggregate
        )
        void clear()
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


cdef class LossSum(Averager):
    """Counts the steps of one shard in a round, and sums how they change the mean loss."""

    cdef double loss
    cdef double n_steps


cdef class Shard:
    """What one worker at a time does in a round, with nothing that others write.

    A round: begin_round(), hand() for every block, all by one thread; catch_up(), visit() and
    measure(), by any; then somebody sets `gamma`, the share of its moves that the merge takes.
    Weights and blocks follow when the shard is next told to catch up.
    """

    cdef readonly Problem problem
    cdef readonly Regularizer regularizer      # moves the weights of this shard
    cdef Regularizer base            # that of the run
    cdef readonly LossSum averager
    cdef DualState dual
    cdef Sampler silent              # visitors tell it what they learn; all hear it after the round
    cdef Visitor visitor
    cdef vector[Py_ssize_t] blocks   # to be visited, in this order
    cdef Py_ssize_t n_done
    cdef bint began                  # has this round come to it?
    cdef double load                 # work of the blocks
    cdef UndoLog log                 # of the blocks of the last round that is not settled
    cdef Direction scratch
    cdef double gamma

    cdef int begin_pass(self, Visitor visitor) except -1
    cdef void begin_round(self) noexcept nogil
    # block i is to be visited too
    cdef int hand(self, Py_ssize_t i) except -1 nogil
    # all of the weights become those of the run
    cdef void renew(self) noexcept nogil
    # let weights and blocks do what the merge of the last round said of all shards
    cdef int catch_up(self, const vector[void*]& shards) except -1 nogil
    cdef int settle(self) except -1 nogil
    # visit the blocks; saved: by block, the round in which the log last took it up
    cdef int visit(self, int32_t* saved, int32_t round, Stop stop, bint leads) except -1 nogil
    # find out how far the weights have come
    cdef void measure(self) noexcept nogil
    # by how much the visits of this round would increase the dual objective by themselves
    cdef double gain(self) noexcept nogil


cdef class PrivateRegularizer(Regularizer):
    """The weights that one shard moves: a copy, or of one shard the weights of the run themselves.

    Between rounds all shards have the same weights, but for rounding.
    """

    cdef Regularizer base            # that of the run
    cdef const double* base_v
    cdef const double* base_w
    cdef const double* lower         # of the base, if it is bounded
    cdef const double* upper
    cdef Moves moves                 # of this round and of the last

    # w = clip(v)
    cdef void clip_all(self) noexcept nogil


cdef class PrivateShard(Shard):
    """A shard with a copy of the weights, in which its visits see each other."""

    cdef PrivateRegularizer weights
    cdef double inner, sqnorm        # of the moves of this round: with w, with themselves

    cdef void follow(self, PrivateShard other) noexcept nogil
    # of the dual objective along the moves of this round, at their beginning
    cdef double slope(self) noexcept nogil


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
