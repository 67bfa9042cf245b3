from sskit.core.dual cimport DualState
from sskit.core.moves cimport Moves
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.direction cimport Direction
from sskit.solvers.sharded.shard cimport Shard


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
