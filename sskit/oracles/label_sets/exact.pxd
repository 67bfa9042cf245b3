from libc.stdint cimport int32_t

from sskit.oracles.label_sets.oracle cimport LabelSetOracle


cdef class EnumeratedSets(LabelSetOracle):
    """The best of all sets of up to 20 labels, by depth-first search.

    A step of the search decides one label and keeps, for each undecided one, what having it
    would add to the set so far; half of the steps have nothing left to keep, so that a set
    costs O(1) on average. A branch is left where even all that the undecided labels could
    add does not reach the best set so far.
    """

    cdef double[:, ::1] weights    # (L, L) pairs, symmetric
    cdef double[::1] positive      # (L,) sums over the earlier labels of positive weights
    cdef double[:, ::1] gain       # (L + 1, L) row k: of the undecided labels before k
    cdef double best
    cdef unsigned int best_set

    cdef int check(self, Py_ssize_t n_labels) except -1 nogil
    # scores of labels in gain[n_labels], and weights of pairs
    cdef void load(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair
    ) noexcept nogil
    # decide the labels before k; the others have been, and score `score`
    cdef void search(self, Py_ssize_t k, double score, unsigned int chosen) noexcept nogil
    # what the labels before k would add to a set, `gain`, and to the set with label k, `after`
    cdef void take(self, Py_ssize_t k, const double* gain, double* after) noexcept nogil
