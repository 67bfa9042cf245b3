from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from sskit.core.regularizer cimport Regularizer
from sskit.solvers.common.averaging cimport Averager


cdef class Merge:
    """How much of the moves of all shards is taken.

    After the visits of a round: begin(); while more() says so the workers do one part() for each
    shard; then take().
    """

    cdef Regularizer regularizer
    cdef Averager averager
    cdef list shards
    cdef vector[void*] shard         # the same, borrowed
    cdef readonly Py_ssize_t n_shards
    cdef double enough               # share of what moves gain one by one that a merge should gain

    cdef void begin(self) noexcept nogil
    cdef bint more(self) noexcept nogil
    # part k of what more() has asked for; two threads may do different parts at once
    cdef int part(self, Py_ssize_t k) except -1 nogil
    # tell each shard its share, gamma, and the averages what has moved; returns the increase of
    # the dual objective
    cdef double take(self) noexcept nogil


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
    cdef vector[void*] direction     # the same, borrowed
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


cdef class BoxMerge(Merge):
    """The best point of a box, with a share for each shard.

    With moves m_k of v, and the changes l_k of the mean loss that come with them, it maximises

        <l, x> - lam sum_k x_k <m_k, w> - lam / 2 || sum_k x_k m_k ||^2  over 0 <= x <= 1,

    the increase of the dual objective; with bounds on the weights a lower bound of it, whose
    slope at zero is right, since clipping brings no two points further apart. x = 0 is in the
    box: the dual objective never falls.
    """

    cdef double[:, ::1] gram
    cdef double[::1] slope
    cdef double[::1] share
    cdef bint filled                 # are all products there?

    cdef double prefer_whole(self, double gain, double lam) noexcept nogil
    cdef void move_followers(self) noexcept nogil


# Maximise  <slope, x> - lam / 2 x^T gram x  over 0 <= x <= 1 (gram with rows of n), by coordinate
# ascent from zero; returns the value, never negative
cdef double maximise_on_box(
    const double* slope, const double* gram, Py_ssize_t n, double lam, double* x
) noexcept nogil
