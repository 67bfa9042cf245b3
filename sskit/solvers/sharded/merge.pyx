"""The merge of what shards found (see the .pxd)."""

from libc.stdlib cimport calloc, free

from sskit.solvers.sharded.shard cimport Shard


cdef class Merge:
    """Base of the merges.

    Parameters
    ----------
    shards : list of Shard
        Who moves.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    averager : Averager
        Follows the merges.
    """

    def __cinit__(self, list shards, Regularizer regularizer, Averager averager, *args):
        cdef Py_ssize_t n = len(shards), k
        self.regularizer, self.averager, self.shards = regularizer, averager, shards
        self.n_shards = n
        self.shard = <void**>calloc(max(n, 1), sizeof(void*))
        if self.shard == NULL:
            raise MemoryError(f"no memory for {n} shards")
        for k in range(n):
            self.shard[k] = <void*>(<Shard?>shards[k])

    def __dealloc__(self):
        free(self.shard)

    cdef void begin(self) noexcept nogil:
        pass

    cdef bint more(self) noexcept nogil:
        return False

    cdef int part(self, Py_ssize_t k) except -1 nogil:
        return 0

    cdef double take(self) noexcept nogil:
        return 0.0
