from libc.stdint cimport int32_t

from sskit.core.problem cimport SlackGoal

# What an entry of one means: entries of a code count in units of 2^-30, so that answers of
# relaxations, which may hold any fraction of a label, are codes too.
cdef int32_t ONE


# The score of y, with y_l in [0, 1] and z_e in [0, 1] for edges e = (k, l), is
#     sum_l label[l] y_l + sum_e pair[e] z_e
# where z_e = y_k y_l for y_l in {0, 1}. Relaxations have max(0, y_k + y_l - 1) <= z_e <=
# min(y_k, y_l) for all other y.
cdef struct SetScores:
    Py_ssize_t n_labels
    Py_ssize_t n_edges
    const double* label
    const double* pair
    const int32_t* ends          # (n_edges, 2)


cdef class LabelSetOracle:
    """Finds a set of labels of a high score; the object is scratch memory for one thread.

    Which sets there are is up to the oracle.
    """

    cdef readonly bint exact         # is its answer always the best of those that there are?
    cdef readonly bint lock_free     # does find() never take the interpreter's lock?

    # code (n_labels + n_edges,): y and z of the answer, in units
    cdef int find(self, const SetScores* s, int32_t* code) except -1 nogil
    # another one for another thread
    cpdef LabelSetOracle fork(self)

    # Optional, for slack rescaling: sets one of which maximises any function that grows with h and
    # g.
    cdef readonly Py_ssize_t n_candidates   # so many at most
    # h and g of candidates, -inf where there is none; returns their number
    cdef Py_ssize_t candidates(
        self, const SetScores* s, const int32_t* truth, const SlackGoal* goal, double* h, double* g
    ) except -1 nogil
    # code (n_labels,) of one of those of the last call
    cdef void take(self, Py_ssize_t candidate, int32_t* code) noexcept nogil


# code of the edges from that of the labels, which is integral
cdef void write_pairs(const SetScores* s, int32_t* code) noexcept nogil
