from libc.stdint cimport int64_t

from sskit.solvers.sharded.merge cimport Merge


cdef class LineMerge(Merge):
    """The best point of a line: one share x in [0, 1] for all shards.

    The workers write all moves to the weights and see by how much ||v||^2 grows: where there is one
    vector for all shards, each worker writes to a part of it; where they have copies, each worker
    writes the moves of the others to one copy. The increase of the dual objective,

        x l - lam / 2 (||v + x m||^2 - ||v||^2)

    with the sum m of all moves and l of the changes of the mean loss, is then known at x = 1, and
    nearly always large enough. Else half of the moves are taken back: two points say where the
    parabola is highest.
    """

    cdef const int64_t[::1] cuts     # (n_shards + 1,) of the problem, see Problem.cut_weights
    cdef list scratch
    cdef void** direction            # the same, borrowed
    cdef bint copies                 # does every shard have weights of its own?
    cdef double[::1] growth          # (n_shards,) of ||v||^2 by the last writing: by part, or all
    cdef double* target              # what is written next: v, or a vector that follows it
    cdef double factor               # of the moves that are written next
    cdef double share                # that has been written so far
    cdef double total                # growth so far
    cdef double whole                # growth at x = 1
    cdef double loss                 # change of the mean loss at x = 1
    cdef double n_steps
    cdef int writings                # of v
    cdef Py_ssize_t n_followed       # vectors that have followed it; -1 until the share is known

    cdef double gain(self) noexcept nogil
    # what has been written makes ||v||^2 grow by so much
    cdef double written(self) noexcept nogil
    # is something to be written to v, and how much? Else the share is known.
    cdef bint search(self) noexcept nogil
