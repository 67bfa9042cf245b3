from libc.stdint cimport int32_t, int64_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from sskit.oracles._forest cimport Forest
from sskit.oracles._potentials cimport Potentials


# A labelling of the subtree of a node up to one of its children: the one up to the child before,
# and the state of this child and which of the labellings of its subtree
cdef struct Joined:
    double score
    int32_t before
    int32_t state
    int32_t rank


cdef class TreeKBest:
    """The k best labellings of forests: lists of k in place of the numbers of max-sum.

    Every place of `forest` and state has a list, best first, of labellings of its subtree, which
    begins with the node alone and is joined with the lists of its children, the last one first.
    `joined` keeps what each child was joined to; the roots are joined like children of one node
    above them.
    """

    cdef readonly Py_ssize_t k
    cdef Forest forest
    cdef vector[vector[double]] scores         # (n_nodes * n_states,) lists so far
    cdef vector[vector[Joined]] joined         # (n_nodes * n_states,) by the state of the parent
    cdef vector[vector[double]] total          # (1,) that of all roots so far
    cdef vector[pair[double, int64_t]] waiting
    cdef vector[pair[double, int64_t]] heads   # labellings of one child, best first
    cdef vector[double] merged

    # the best labellings, as many as are possible (> -inf) up to k, best first, to labels
    # (k, n_nodes) and out (k,); returns their number
    cdef Py_ssize_t decode(self, const Potentials* p, int32_t* labels, double* out) except -1
    # join the list of a place with the list `into` of one state of its parent, -1 for roots
    cdef int join(
        self, const Potentials* p, Py_ssize_t place, int32_t state, vector[double]& into
    ) except -1 nogil
    cdef void trace(
        self, const Potentials* p, Py_ssize_t rank, int32_t* labels, int32_t* ranks
    ) noexcept nogil
