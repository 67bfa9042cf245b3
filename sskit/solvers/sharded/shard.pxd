from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.minibatch cimport Visitor


cdef struct Move:
    Py_ssize_t block, n, first       # first: of its entries in the log
    double step


cdef struct BlockBefore:
    Py_ssize_t block, n_entries, n_planes
    Py_ssize_t first_index, first_number
    double loss


cdef class LoggingRegularizer(Regularizer):
    cdef vector[Move] moves          # of this round, and their entries
    cdef vector[int32_t] index
    cdef vector[double] value

    # a new round begins
    cdef void clear(self) noexcept nogil


cdef class Shard:
    """What one worker at a time does in a round, with nothing that others write.

    Whoever begins a pass sets the visitor, which moves the weights of this shard, and lam. A round:
    begin_round(), hand() for every block, all by one thread; then visit(), by any. Then
    the weights of all shards are moved to the share of all moves that is best, and unless that is
    all of them settle() lets the blocks follow.
    """

    cdef readonly Problem problem
    # Moves the weights of this shard: a copy, or of the first shard those of the run themselves.
    # Between rounds all shards have the same weights, but for rounding.
    cdef readonly Regularizer regularizer
    cdef LoggingRegularizer log      # the same if it logs, else None
    cdef DualState dual
    cdef Sampler silent              # visitors tell it what they learn; all hear it after the round
    cdef Visitor visitor
    cdef vector[Py_ssize_t] blocks   # to be visited, in this order
    cdef Py_ssize_t n_done
    cdef double load                 # work of the blocks
    cdef double loss                 # change of the mean loss by the visits of this round
    cdef double before               # what visits had gained when it began
    cdef vector[BlockBefore] undo    # what the blocks were then: plane 0, and weights of planes
    cdef vector[int32_t] index
    cdef vector[double] number
    cdef Direction scratch

    cdef void begin_round(self) noexcept nogil
    # block i is to be visited too
    cdef int hand(self, Py_ssize_t i) except -1 nogil
    # visit the blocks; owner: by block, negative unless it is still to be kept for settle()
    cdef int visit(self, int64_t* owner, Stop stop, bint leads) except -1 nogil
    cdef int keep(self, Py_ssize_t i) except -1 nogil
    # by how much the visits of this round would increase the dual objective by themselves
    cdef double gain(self) noexcept nogil
    # by how much ||v||^2 has grown by them, if there are no bounds
    cdef double grown(self) noexcept nogil
    # v += factor * the logged moves of another shard; by how much ||v||^2 grows
    cdef double follow(self, Shard other, double factor) noexcept nogil
    # the blocks keep this share of what has become of them
    cdef int settle(self, double share) except -1 nogil
