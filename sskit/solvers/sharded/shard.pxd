from libc.stdint cimport int32_t
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

cdef extern from "undo_log.hpp" namespace "sskit" nogil:
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
    cdef int catch_up(self, void** shards, Py_ssize_t n_shards) except -1 nogil
    cdef int settle(self) except -1 nogil
    # visit the blocks; saved: by block, the round in which the log last took it up
    cdef int visit(self, int32_t* saved, int32_t round, Stop stop, bint leads) except -1 nogil
    # find out how far the weights have come
    cdef void measure(self) noexcept nogil
    # by how much the visits of this round would increase the dual objective by themselves
    cdef double gain(self) noexcept nogil
